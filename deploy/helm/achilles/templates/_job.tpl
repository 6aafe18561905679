{{/* The pod of a job that runs one command. `.keys`, `.environment`, `.command`, `.resources`, `.documentsClaim`. */}}
{{- define "achilles.jobPod" -}}
metadata:
  labels: {{- include "achilles.labels" . | nindent 4 }}
spec:
  restartPolicy: Never
  {{- include "achilles.podSecurity" .root | nindent 2 }}
  containers:
    - name: {{ .component }}
      image: {{ include "achilles.image" .root }}
      imagePullPolicy: {{ .root.Values.image.pullPolicy }}
      command: {{- toYaml .command | nindent 8 }}
      {{- include "achilles.containerSecurity" .root | nindent 6 }}
      env:
        {{- range $setting, $value := .environment }}
        - name: ACHILLES_{{ $setting }}
          value: {{ $value | toString | quote }}
        {{- end }}
        {{- include "achilles.secretEnvironment" . | nindent 8 }}
        {{- include "achilles.trustEnvironment" .root | nindent 8 }}
      resources: {{- toYaml .resources | nindent 8 }}
      volumeMounts:
        {{- include "achilles.mounts" .root | nindent 8 }}
        {{- if .documentsClaim }}
        - {name: documents, mountPath: /documents, readOnly: true}
        {{- end }}
  volumes:
    {{- include "achilles.volumes" . | nindent 4 }}
    {{- with .documentsClaim }}
    - name: documents
      persistentVolumeClaim: {claimName: {{ . }}, readOnly: true}
    {{- end }}
{{- end }}
