{{- define "dealwright.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "dealwright.selector" -}}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "dealwright.labels" -}}
{{ include "dealwright.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "dealwright.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- /* The settings that are secrets: DATABASE_URL, and these, which the Secret may have. */ -}}
{{- define "dealwright.secrets" -}}
DATABASE_READ_URL DEALWRIGHT_TOKEN OIDC_CLIENT_SECRET OTEL_EXPORTER_OTLP_HEADERS OTEL_EXPORTER_OTLP_TRACES_HEADERS
{{- end -}}

{{- /* Ends with one sentence what could not work. */ -}}
{{- define "dealwright.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.database.external) -}}
{{- fail (printf "replicas is %d, and one process at a time may open the embedded database: set replicas to 1, or database.external with DATABASE_URL in existingSecret." (int .Values.replicas)) -}}
{{- end -}}
{{- if and .Values.database.external (not .Values.existingSecret) -}}
{{- fail "database.external needs existingSecret, with the key DATABASE_URL: kubectl create secret generic dealwright --from-literal=DATABASE_URL=postgres://…" -}}
{{- end -}}
{{- range $name := prepend (splitList " " (include "dealwright.secrets" .)) "DATABASE_URL" -}}
{{- if hasKey $.Values.settings $name -}}
{{- fail (printf "settings.%s would be readable by everybody who sees the pod: put it into a Secret and name that in existingSecret." $name) -}}
{{- end -}}
{{- end -}}
{{- range $name := list "HOST" "PORT" "DATA_DIR" "METRICS_HOST" "METRICS_PORT" -}}
{{- if hasKey $.Values.settings $name -}}
{{- fail (printf "settings.%s is set by the chart: leave it out." $name) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}
{{- fail "ingress.enabled needs ingress.host." -}}
{{- end -}}
{{- end -}}
