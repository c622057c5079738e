{{/* The ConfigMaps of all components. */}}
{{- define "framelane.configMaps" -}}
{{- $fullname := include "framelane.fullname" . -}}
{{- $engine := dict "CONTROL_PLANE_INTERNAL_URL" (printf "http://%s-control-plane-internal:8081" $fullname) "PUBLIC_URL" .Values.controlPlane.settings.PUBLIC_URL -}}
{{- $uploader := merge (dict "ENGINE_ROLES" "upload") .Values.uploader.settings -}}
{{- $transcoder := merge (dict "ENGINE_ROLES" "transcode") .Values.transcoder.settings -}}
{{- $all := dict "shared" .Values.settings "control-plane" .Values.controlPlane.settings "engine" $engine "uploader" $uploader "transcoder" $transcoder -}}
{{- range $component, $settings := $all }}
---
apiVersion: v1
kind: ConfigMap
metadata:
  {{- include "framelane.metadata" (dict "root" $ "component" $component) | nindent 2 }}
data:
  {{- include "framelane.settings" $settings | trim | nindent 2 }}
{{- end }}
{{- end -}}
