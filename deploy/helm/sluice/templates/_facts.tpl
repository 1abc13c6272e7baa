{{- /*
What follows from the document comes from `gw deploy kubernetes --helm-values` as .Values.facts. This file combines it with
the other values. It stays close to packages/cli/src/kubernetes/objects, to which tests compare it.
*/ -}}

{{- /* The text of the document, with one line break at its end. */ -}}
{{- define "sluice.document" -}}
{{ trimSuffix "\n" (required "document is empty; for example --values document.yaml, from gw deploy kubernetes --helm-values. A document above 1 MB needs control.url" .Values.document) }}
{{ end -}}

{{- /* Checks for values that exclude each other. */ -}}
{{- define "sluice.checkValues" -}}
{{- with .Values.control -}}
{{- if and .url (or (not .group) (eq (empty .tokenSecret) (empty .tlsSecret))) -}}
{{- fail "control.url needs control.group, and either control.tokenSecret or control.tlsSecret" -}}
{{- end -}}
{{- end -}}
{{- $pods := .Values.autoscaling -}}
{{- if and $pods.enabled (lt (int $pods.maxReplicas) (int .Values.replicaCount)) -}}
{{- fail (printf "autoscaling.maxReplicas is %v; use at least %v, the value of replicaCount" $pods.maxReplicas .Values.replicaCount) -}}
{{- end -}}
{{- if and .Values.service.externalTrafficPolicy (eq .Values.service.type "ClusterIP") -}}
{{- fail "service.externalTrafficPolicy is for service.type NodePort and LoadBalancer" -}}
{{- end -}}
{{- end -}}

{{- /* The facts of the document, and what they and the values make of an object, as JSON. */ -}}
{{- define "sluice.facts" -}}
{{- include "sluice.checkValues" . -}}
{{- $defaults := .Files.Get "files/defaults.json" | fromJson -}}
{{- $facts := deepCopy .Values.facts | default (.Files.Get "files/facts.json" | fromJson) -}}
{{- $control := .Values.control -}}
{{- $isWithout := and $control.url (not .Values.document) .Values.facts -}}
{{- if and (not $isWithout) (ne (toString $facts.documentSha256) (include "sluice.document" . | sha256sum)) -}}
{{- fail "facts are missing or belong to another document; create both with: gw deploy kubernetes -c gateway.yaml --helm-values > document.yaml, then use --values document.yaml" -}}
{{- end -}}
{{- if and .Values.monitoring.enabled (not $facts.metricsPort) -}}
{{- fail "Prometheus cannot reach the metrics; add metrics: { address: ':9902' }" -}}
{{- end -}}

{{- /* What values replace as a whole. */ -}}
{{- $_ := set $facts "strategy" (.Values.strategy | default $defaults.strategy) -}}
{{- $_ := set $facts "behavior" (.Values.autoscaling.behavior | default $defaults.behavior) -}}
{{- $_ := set $facts "lifecycle" (.Values.lifecycle | default $facts.lifecycle) -}}
{{- $chosen := include "sluice.selectorLabels" . | fromYaml -}}
{{- $spread := list -}}
{{- range $defaults.spread -}}
{{- $spread = append $spread (merge (dict "labelSelector" (dict "matchLabels" $chosen)) .) -}}
{{- end -}}
{{- $_ := set $facts "topologySpreadConstraints" (.Values.topologySpreadConstraints | default $spread) -}}
{{- $options := dict -}}
{{- range $defaults.serviceOptions -}}
{{- $value := get $.Values.service . -}}
{{- if or $value (kindIs "bool" $value) }}{{ $_ := set $options . $value }}{{ end -}}
{{- end -}}
{{- $_ := set $facts "serviceOptions" $options -}}

{{- /* Resources and probes. */ -}}
{{- $tier := get $defaults.tiers .Values.tier | required (printf "tier is one of %s" (keys $defaults.tiers | sortAlpha | join ", ")) -}}
{{- with .Values.ephemeralStorage }}{{ $_ := set $tier "ephemeral-storage" . }}{{ end -}}
{{- $_ := set $facts "resources" (.Values.resources | default (dict "requests" $tier "limits" $tier)) -}}
{{- if $control.url -}}
{{- $_ := set $facts.probes.startupProbe "failureThreshold" $defaults.controlled.startSeconds -}}
{{- $_ := set $facts "sizeLimit" (printf "%dMi" (add (trimSuffix "Mi" $facts.sizeLimit | int) $defaults.controlled.bundlesMib)) -}}
{{- end -}}
{{- $_ := set $facts "automountsToken" (or (gt (len $facts.serviceNamespaces) 0) (and $facts.logsInToVault (not .Values.vault.audience))) -}}
{{- range $name, $probe := $facts.probes -}}
{{- $_ := set $facts $name (mergeOverwrite $probe (get $.Values $name)) -}}
{{- end -}}

{{- /* What the document refers to: variables and files of the Secret. */ -}}
{{- $secret := .Values.secrets.name -}}
{{- $given := list -}}
{{- range .Values.extraEnv }}{{ $given = append $given .name }}{{ end -}}
{{- $environment := list -}}
{{- $own := list (dict "configMap" (dict "name" (include "sluice.fullname" .) "items" (list (dict "key" "gateway.yaml" "path" "gateway.yaml")))) -}}
{{- with $control -}}
{{- if .url -}}
{{- $own = list -}}
{{- $environment = list (dict "name" "GW_CONTROL" "value" .url) (dict "name" "GW_CONTROL_GROUP" "value" .group) -}}
{{- with .tokenSecret -}}
{{- $environment = append $environment (dict "name" "GW_CONTROL_TOKEN" "valueFrom" (dict "secretKeyRef" (dict "name" . "key" "token"))) -}}
{{- end -}}
{{- $files := "/etc/sluice/control" -}}
{{- with .tlsSecret -}}
{{- $environment = append $environment (dict "name" "GW_CONTROL_CERT" "value" (printf "%s/tls.crt" $files)) -}}
{{- $environment = append $environment (dict "name" "GW_CONTROL_KEY" "value" (printf "%s/tls.key" $files)) -}}
{{- $own = append $own (dict "secret" (dict "name" . "items" (list (dict "key" "tls.crt" "path" "control/tls.crt") (dict "key" "tls.key" "path" "control/tls.key")))) -}}
{{- end -}}
{{- with .caSecret -}}
{{- $environment = append $environment (dict "name" "GW_CONTROL_CA" "value" (printf "%s/ca.crt" $files)) -}}
{{- $own = append $own (dict "secret" (dict "name" . "items" (list (dict "key" "ca.crt" "path" "control/ca.crt")))) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $_ := set $facts "ownSources" $own -}}
{{- range $facts.variables -}}
{{- if not (has .name $given) -}}
{{- if $secret -}}
{{- $reference := dict "name" $secret "key" .name "optional" true -}}
{{- $environment = append $environment (dict "name" .name "valueFrom" (dict "secretKeyRef" $reference)) -}}
{{- else if .isRequired -}}
{{- fail (printf "the document refers to ${env:%s}; set secrets.name to the Secret that contains its value" .name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $_ := set $facts "environment" $environment -}}
{{- $items := list -}}
{{- range $facts.files -}}
{{- if or (not $secret) (hasPrefix ".." .) -}}
{{- fail (printf "the document refers to the file '%s'; set secrets.name to the Secret that contains it, or use an absolute path" .) -}}
{{- end -}}
{{- $items = append $items (dict "key" (replace "/" "." .) "path" .) -}}
{{- end -}}
{{- $sources := list -}}
{{- if $items }}{{ $sources = list (dict "secret" (dict "name" $secret "items" $items "optional" true)) }}{{ end -}}
{{- $_ := set $facts "fileSources" $sources -}}

{{- /* The ways out. */ -}}
{{- $found := $facts.egress -}}
{{- $egress := list (dict "to" (.Values.networkPolicy.dns | default $defaults.dns) "ports" $defaults.dnsPorts) -}}
{{- $egress = concat $egress $found.addressed -}}
{{- $namespaces := $found.namespaces -}}
{{- if $found.usesOwnNamespace }}{{ $namespaces = append $namespaces .Release.Namespace }}{{ end -}}
{{- range $namespaces | uniq | sortAlpha -}}
{{- $selector := dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" .)) -}}
{{- $egress = append $egress (dict "to" (list $selector)) -}}
{{- end -}}
{{- with $found.ports }}{{ $egress = append $egress (dict "ports" .) }}{{ end -}}
{{- if $facts.serviceNamespaces -}}
{{- $server := dict "ports" $defaults.apiServerPorts -}}
{{- with .Values.networkPolicy.apiServer }}{{ $_ := set $server "to" . }}{{ end -}}
{{- $egress = append $egress $server -}}
{{- end -}}
{{- if $control.url -}}
{{- $port := regexFind ":[0-9]+$" $control.url | trimPrefix ":" | default "443" | int -}}
{{- $egress = append $egress (dict "ports" (list (dict "port" $port "protocol" "TCP"))) -}}
{{- end -}}
{{- $_ := set $facts "egress" $egress -}}
{{- toJson $facts -}}
{{- end -}}
