{{/* What every pod of this chart has in common. */}}
{{- define "achilles.podSecurity" -}}
automountServiceAccountToken: false
# Kubernetes would set ACHILLES_SIGNAL_WORKER_PORT and others to addresses of the services, over our settings.
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  seccompProfile: {type: RuntimeDefault}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "achilles.containerSecurity" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
{{- end }}

{{- define "achilles.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: {matchLabels: {{ include "achilles.selectorJson" . }}}
  - maxSkew: 1
    topologyKey: topology.kubernetes.io/zone
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: {matchLabels: {{ include "achilles.selectorJson" . }}}
{{- end }}

{{/* Secrets as files: `.keys` maps a setting to its key in the Secret. */}}
{{- define "achilles.secretEnvironment" -}}
{{- range $setting, $key := .keys }}
- name: ACHILLES_{{ $setting }}_FILE
  value: /run/secrets/achilles/{{ $key }}
{{- end }}
{{- end }}

{{- define "achilles.trustEnvironment" -}}
{{- if .Values.caBundle.configMap }}
- name: SSL_CERT_FILE
  value: /etc/achilles/ca/{{ .Values.caBundle.key }}
- name: PGSSLROOTCERT
  value: /etc/achilles/ca/{{ .Values.caBundle.key }}
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "achilles.mounts" -}}
- {name: tmp, mountPath: /tmp}
- {name: secrets, mountPath: /run/secrets/achilles, readOnly: true}
{{- if .Values.caBundle.configMap }}
- {name: ca, mountPath: /etc/achilles/ca, readOnly: true}
{{- end }}
{{- end }}

{{- define "achilles.volumes" -}}
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
- name: secrets
  secret:
    secretName: {{ include "achilles.secret" .root }}
    defaultMode: 0440
    items:
      {{- range $setting, $key := .keys }}
      - {key: {{ $key }}, path: {{ $key }}}
      {{- end }}
{{- if .root.Values.caBundle.configMap }}
- name: ca
  configMap: {name: {{ .root.Values.caBundle.configMap }}}
{{- end }}
{{- end }}

{{/* Streams on as many servers as the bus of this chart has; with a bus of your own, `settings.NATS_REPLICAS` says it. */}}
{{- define "achilles.busSettings" -}}
{{- if .Values.nats.enabled }}
NATS_REPLICAS: {{ .Values.nats.replicas | quote }}
{{- else }}
{}
{{- end }}
{{- end }}
