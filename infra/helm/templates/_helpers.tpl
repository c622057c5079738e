{{/* Begins the names of all objects: that of the release, and "framelane" if it is not in that. At most 63 characters with their ends. */}}
{{- define "framelane.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 40 | trimSuffix "-" -}}
{{- else if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* The labels that select the pods of a component. Takes a dict with "root" and "component". */}}
{{- define "framelane.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* Name and labels of an object. Takes a dict with "root", "component" and, if it differs from the component, "name". */}}
{{- define "framelane.metadata" -}}
name: {{ include "framelane.fullname" .root }}-{{ .name | default .component }}
labels:
  {{- include "framelane.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{/* An image. Takes a dict with "root" and "image", one of the values below `image`. */}}
{{- define "framelane.image" -}}
{{- $name := printf "%s/%s" .root.Values.image.registry .image.repository -}}
{{- if .image.digest -}}
{{ $name }}@{{ .image.digest }}
{{- else -}}
{{ $name }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "framelane.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "framelane.fullname" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* Settings as the data of a ConfigMap. Numbers as JSON: Go would print large ones with an exponent. */}}
{{- define "framelane.settings" -}}
{{- range $name, $value := . }}
{{ $name }}: {{ kindIs "string" $value | ternary $value (toJson $value) | quote }}
{{- end }}
{{- end -}}

{{/* The host name of a URL. */}}
{{- define "framelane.hostname" -}}
{{ (urlParse .).hostname }}
{{- end -}}

{{/* The entries of `ingress.tls` for a host, as JSON. A wildcard is for one label (RFC 9525). Takes a dict with "root" and "host". */}}
{{- define "framelane.tlsOf" -}}
{{- $names := list .host (regexReplaceAll "^[^.]+" .host "*") -}}
{{- $found := list -}}
{{- range $entry := .root.Values.ingress.tls -}}
{{- if or (has (first $names) $entry.hosts) (has (last $names) $entry.hosts) -}}
{{- $found = append $found $entry -}}
{{- end -}}
{{- end -}}
{{ toJson $found }}
{{- end -}}

{{/* Labels and annotations of a pod. Takes a dict with "root", "component", "values" and "metricsPort". */}}
{{- define "framelane.podMetadata" -}}
labels:
  {{- include "framelane.selector" . | nindent 2 }}
  {{- with .values.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
annotations:
  {{- /* A change of the settings restarts the pods. */}}
  checksum/settings: {{ include "framelane.configMaps" .root | sha256sum }}
  {{- if not .root.Values.podMonitor.enabled }}
  prometheus.io/scrape: "true"
  prometheus.io/port: {{ .metricsPort | quote }}
  {{- end }}
  {{- with .values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* What the specifications of all pods have in common. Takes a dict with "root", "component" and "values". */}}
{{- define "framelane.podSpec" -}}
automountServiceAccountToken: false
{{- $serviceAccount := include "framelane.serviceAccountName" .root }}
{{- if ne $serviceAccount "default" }}
serviceAccountName: {{ $serviceAccount }}
{{- end }}
# Service links would set variables such as ENGINE_PORT to URLs instead of port numbers.
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
{{- with .values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .values.nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with .values.tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- with .values.affinity }}
affinity: {{ toJson . }}
{{- end }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "framelane.selector" . | nindent 8 }}
{{- end -}}

{{/* Image and environment of a container. Takes a dict with "root", "component", "values", "program" and "programValue". */}}
{{- define "framelane.container" -}}
name: {{ .component }}
image: {{ include "framelane.image" (dict "root" .root "image" (index .root.Values.image .programValue)) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
{{- $fullname := include "framelane.fullname" .root }}
envFrom:
  - configMapRef: { name: {{ $fullname }}-shared }
  - configMapRef: { name: {{ $fullname }}-{{ .program }} }
  {{- if ne .program .component }}
  - configMapRef: { name: {{ $fullname }}-{{ .component }} }
  {{- end }}
  - secretRef: { name: {{ .root.Values.existingSecrets.shared }} }
  - secretRef: { name: {{ index .root.Values.existingSecrets .programValue }} }
{{- with .values.extraEnv }}
env:
  {{- toYaml . | nindent 2 }}
{{- end }}
resources:
  {{- toYaml .values.resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end -}}

{{/* Probes of an engine, on its internal port. */}}
{{- define "framelane.engineProbes" -}}
startupProbe:
  httpGet: { port: internal, path: /readyz }
  periodSeconds: 2
  timeoutSeconds: 8
  failureThreshold: 60
# An engine that cannot reach its dependencies cannot work.
readinessProbe:
  httpGet: { port: internal, path: /readyz }
  periodSeconds: 5
  timeoutSeconds: 8
livenessProbe:
  httpGet: { port: internal, path: /healthz }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
{{- end -}}

{{/* At most one pod of a component is evicted at a time. Takes a dict with "root" and "component". */}}
{{- define "framelane.podDisruptionBudget" -}}
{{- if .root.Values.podDisruptionBudget.enabled }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "framelane.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "framelane.selector" . | nindent 6 }}
{{- end }}
{{- end -}}
