{{/* A service of ours as a Deployment. `.keys`: its secrets; `.environment`: its fixed settings; `.values`: its values. */}}
{{- define "achilles.deployment" -}}
{{- $name := printf "%s-%s" (include "achilles.fullname" .root) .component }}
{{- $settings := merge (deepCopy .environment) .values.settings .root.Values.settings }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
  labels: {{- include "achilles.labels" . | nindent 4 }}
spec:
  {{- if not (dig "autoscaling" "enabled" false .values) }}
  replicas: {{ .values.replicas }}
  {{- end }}
  revisionHistoryLimit: 5
  selector:
    matchLabels: {{- include "achilles.selector" . | nindent 6 }}
  strategy:
    rollingUpdate: {maxSurge: 1, maxUnavailable: 0}
  template:
    metadata:
      labels:
        {{- include "achilles.labels" . | nindent 8 }}
        {{- with .root.Values.podLabels }}{{ toYaml . | nindent 8 }}{{ end }}
      {{- with .root.Values.podAnnotations }}
      annotations: {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "achilles.fullname" .root }}
      terminationGracePeriodSeconds: {{ .values.terminationGracePeriodSeconds }}
      {{- include "achilles.podSecurity" .root | nindent 6 }}
      {{- include "achilles.spread" . | nindent 6 }}
      containers:
        - name: {{ .component }}
          image: {{ include "achilles.image" .root }}
          imagePullPolicy: {{ .root.Values.image.pullPolicy }}
          command: [python, -m, services.{{ .component | replace "-" "_" }}]
          {{- include "achilles.containerSecurity" .root | nindent 10 }}
          ports:
            - {name: http, containerPort: {{ .port }}}
          env:
            - name: POD_IP
              valueFrom: {fieldRef: {fieldPath: status.podIP}}
            {{- range $setting, $value := $settings }}
            - name: ACHILLES_{{ $setting }}
              value: {{ $value | toString | quote }}
            {{- end }}
            {{- include "achilles.secretEnvironment" . | nindent 12 }}
            {{- include "achilles.trustEnvironment" .root | nindent 12 }}
          startupProbe:
            httpGet: {path: /livez, port: http}
            periodSeconds: 3
            failureThreshold: 40
          livenessProbe:
            httpGet: {path: /livez, port: http}
            periodSeconds: 10
            timeoutSeconds: 5
            failureThreshold: 6
          readinessProbe:
            httpGet: {path: /readyz, port: http}
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 3
          lifecycle:
            # Until nobody sends it new requests any more.
            preStop: {sleep: {seconds: 5}}
          resources: {{- toYaml .values.resources | nindent 12 }}
          volumeMounts: {{- include "achilles.mounts" .root | nindent 12 }}
      volumes: {{- include "achilles.volumes" . | nindent 8 }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}
  labels: {{- include "achilles.labels" . | nindent 4 }}
spec:
  selector: {{- include "achilles.selector" . | nindent 4 }}
  ports:
    - {name: http, port: {{ .port }}, targetPort: http}
{{- if gt (int .values.replicas) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ $name }}
  labels: {{- include "achilles.labels" . | nindent 4 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels: {{- include "achilles.selector" . | nindent 6 }}
{{- end }}
{{- if dig "autoscaling" "enabled" false .values }}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  name: {{ $name }}
  labels: {{- include "achilles.labels" . | nindent 4 }}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: {{ $name }}}
  minReplicas: {{ .values.autoscaling.minReplicas }}
  maxReplicas: {{ .values.autoscaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ .values.autoscaling.targetCPUUtilizationPercentage }}}
{{- end }}
{{- end }}
