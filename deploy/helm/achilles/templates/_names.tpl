{{- define "achilles.fullname" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 40 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "achilles.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "achilles.selectorJson" -}}
{{ include "achilles.selector" . | fromYaml | toJson }}
{{- end }}

{{- define "achilles.labels" -}}
{{ include "achilles.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "achilles.image" -}}
{{- with .Values.image }}{{ .repository }}{{ if .digest }}@{{ .digest }}{{ else }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}{{ end }}
{{- end }}

{{- define "achilles.secret" -}}
{{- required "secrets.existingSecret must name the Secret with the addresses and passwords (docs/deployment.md)" .Values.secrets.existingSecret }}
{{- end }}

{{- define "achilles.knowledgeUrl" -}}
{{- if .Values.knowledgeStore.enabled }}http://{{ include "achilles.fullname" . }}-knowledge-store:8010{{ else }}{{ required "knowledgeStore.url must be the address of your Knowledge Store when knowledgeStore.enabled is false" .Values.knowledgeStore.url }}{{ end }}
{{- end }}
