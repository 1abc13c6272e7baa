{{- /*
What follows from the document: ports, probes, ways out, times and room. This file is made by tools/kubernetes, from the same
source as the manifests in deploy/kubernetes.
*/ -}}

{{- /* The text of the document, with one line break at its end. */ -}}
{{- define "sluice.document" -}}
{{ trimSuffix "\n" (required "document is empty; for example --set-file document=gateway.yaml" .Values.document) }}
{{ end -}}

{{- /* Milliseconds of a duration; the context is its place and the text. */ -}}
{{- define "sluice.milliseconds" -}}
{{- $text := index . 1 | toString -}}
{{- if not (regexMatch "^[0-9]+([.][0-9]+)?(ms|s|m|h|d)$" $text) -}}
{{- fail (printf "%s is '%s'; use a literal, such as 30s, for the pods' grace period" (index . 0) $text) -}}
{{- end -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- $unit := get (dict "ms" 1 "s" 1000 "m" 60000 "h" 3600000 "d" 86400000) (trimPrefix $number $text) -}}
{{- round (mulf $number $unit) 0 | int64 -}}
{{- end -}}

{{- /* MiB of a size; the context is the text, and what counts where that is a reference. */ -}}
{{- define "sluice.mebibytes" -}}
{{- $text := index . 0 | toString | lower -}}
{{- if contains "${" $text }}{{ $text = index . 1 }}{{ end -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- $unit := get (dict "b" 1 "kb" 1024 "mb" 1048576 "gb" 1073741824) (trimPrefix $number $text) -}}
{{- divf (mulf $number $unit) 1048576 -}}
{{- end -}}

{{- /* The port of an address that others than the pod can reach, else nothing; the context is its place and the text. */ -}}
{{- define "sluice.port" -}}
{{- $text := index . 1 | toString | lower -}}
{{- $port := regexReplaceAll "^:0*" (regexFind ":[0-9]+$" $text) "" -}}
{{- if or (not $port) (contains "${" $text) -}}
{{- fail (printf "%s.address is '%s'; use a fixed port, such as ':8080'" (index . 0) $text) -}}
{{- end -}}
{{- if not (regexMatch "^(localhost|127[.][0-9.]+|\\[::1\\]):" $text) }}{{ $port }}{{ end -}}
{{- end -}}

{{- /* The texts at a path of a value, as JSON; a star is each item of a list. The context is both. */ -}}
{{- define "sluice.texts" -}}
{{- $value := index . 0 -}}
{{- $keys := index . 1 -}}
{{- $texts := list -}}
{{- if not $keys }}{{ if kindIs "string" $value }}{{ $texts = list $value }}{{ end -}}
{{- else if kindIs "slice" $value -}}
{{- if eq (first $keys) "*" -}}
{{- range $value }}{{ $texts = concat $texts (include "sluice.texts" (list . (rest $keys)) | fromJsonArray) }}{{ end -}}
{{- end -}}
{{- else if kindIs "map" $value -}}
{{- $texts = include "sluice.texts" (list (get $value (first $keys)) (rest $keys)) | fromJsonArray -}}
{{- end -}}
{{- toJson $texts -}}
{{- end -}}

{{- define "sluice.facts" -}}
{{- $doc := include "sluice.document" . | fromYaml -}}
{{- if hasKey $doc "Error" }}{{ fail (printf "document is not YAML: %s" $doc.Error) }}{{ end -}}
{{- $text := toJson $doc | replace "$${" "" -}}
{{- $facts := dict -}}
{{- $pods := .Values.autoscaling -}}
{{- if and $pods.enabled (lt (int $pods.maxReplicas) (int .Values.replicaCount)) -}}
{{- fail (printf "autoscaling.maxReplicas is %v; use at least %v, the value of replicaCount" $pods.maxReplicas .Values.replicaCount) -}}
{{- end -}}
{{- if and .Values.service.externalTrafficPolicy (eq .Values.service.type "ClusterIP") -}}
{{- fail "service.externalTrafficPolicy is for service.type NodePort and LoadBalancer" -}}
{{- end -}}

{{- /* Listeners. */ -}}
{{- $listeners := list -}}
{{- $own := list -}}
{{- range $i, $listener := $doc.listeners -}}
{{- with include "sluice.port" (list (printf "listeners[%d]" $i) ($listener.address | default "")) -}}
{{- $isOpen := not (or $listener.proxyProtocol ($listener.tls).clientCaFile) -}}
{{- $port := int . -}}
{{- $answers := and $listener.health $isOpen -}}
{{- /* As one for IPv4 and one for IPv6. */ -}}
{{- if has $port $own -}}
{{- range $listeners }}{{ if eq .port $port }}{{ $_ := set . "answers" (or .answers $answers) }}{{ end }}{{ end -}}
{{- else -}}
{{- $own = append $own $port -}}
{{- $listeners = append $listeners (dict "port" $port "isTls" (hasKey $listener "tls") "answers" $answers) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $listeners -}}
{{- fail "no listener is reachable from outside its pod; use for example listeners: [{ address: ':8080' }]" -}}
{{- end -}}
{{- $containerPorts := list -}}
{{- $servicePorts := list -}}
{{- $listenerPorts := list -}}
{{- $named := dict -}}
{{- $probe := dict -}}
{{- $lowest := 65535 -}}
{{- range $listeners -}}
{{- $kind := ternary "https" "http" .isTls -}}
{{- $usual := ternary 443 80 .isTls -}}
{{- $name := $kind -}}
{{- $servicePort := ternary .port $usual (has $usual $own) -}}
{{- if hasKey $named $kind -}}
{{- $name = printf "%s-%d" $kind .port -}}
{{- $servicePort = .port -}}
{{- end -}}
{{- $_ := set $named $kind true -}}
{{- $containerPorts = append $containerPorts (dict "name" $name "containerPort" .port "protocol" "TCP") -}}
{{- $servicePorts = append $servicePorts (dict "name" $name "port" $servicePort "targetPort" $name "protocol" "TCP") -}}
{{- $listenerPorts = append $listenerPorts (dict "port" .port "protocol" "TCP") -}}
{{- if and .answers (not $probe) -}}
{{- $probe = dict "port" $name "scheme" (upper $kind) "alivePath" "/-/healthz" "readyPath" "/-/readyz" -}}
{{- end -}}
{{- $lowest = min $lowest .port -}}
{{- end -}}
{{- $_ := set $facts "servicePorts" $servicePorts -}}
{{- $_ := set $facts "listenerPorts" $listenerPorts -}}
{{- if lt (int $lowest) 1024 -}}
{{- $_ := set $facts "sysctls" (list (dict "name" "net.ipv4.ip_unprivileged_port_start" "value" (toString $lowest))) -}}
{{- end -}}

{{- /* Metrics, admin API, and what the kubelet asks. */ -}}
{{- $supervisorPorts := list -}}
{{- if ($doc.metrics).address -}}
{{- with include "sluice.port" (list "metrics" $doc.metrics.address) -}}
{{- $_ := set $facts "metricsPort" (int .) -}}
{{- $containerPorts = append $containerPorts (dict "name" "metrics" "containerPort" (int .) "protocol" "TCP") -}}
{{- $supervisorPorts = append $supervisorPorts (dict "port" (int .) "protocol" "TCP") -}}
{{- $probe = dict "port" "metrics" "scheme" "HTTP" "alivePath" "/healthz" "readyPath" "/readyz" -}}
{{- end -}}
{{- end -}}
{{- with include "sluice.port" (list "admin" (($doc.admin).address | default "127.0.0.1:9901")) -}}
{{- $containerPorts = append $containerPorts (dict "name" "admin" "containerPort" (int .) "protocol" "TCP") -}}
{{- $supervisorPorts = append $supervisorPorts (dict "port" (int .) "protocol" "TCP") -}}
{{- if not $probe -}}
{{- $scheme := ternary "HTTPS" "HTTP" (hasKey $doc.admin "tls") -}}
{{- $probe = dict "port" "admin" "scheme" $scheme "alivePath" "/healthz" "readyPath" "/readyz" -}}
{{- end -}}
{{- end -}}
{{- if not $probe }}{{ fail "no address for the kubelet's probes; add metrics: { address: ':9902' }" }}{{ end -}}
{{- if and .Values.monitoring.enabled (not $facts.metricsPort) -}}
{{- fail "Prometheus cannot reach the metrics; add metrics: { address: ':9902' }" -}}
{{- end -}}
{{- $_ := set $facts "containerPorts" $containerPorts -}}
{{- $_ := set $facts "supervisorPorts" $supervisorPorts -}}
{{- $_ := set $facts "startupProbe" (mergeOverwrite (dict "httpGet" (dict "path" $probe.alivePath "port" $probe.port "scheme" $probe.scheme)) (fromJson `{"periodSeconds":1,"timeoutSeconds":5,"failureThreshold":60}`) .Values.startupProbe) -}}
{{- $_ := set $facts "readinessProbe" (mergeOverwrite (dict "httpGet" (dict "path" $probe.readyPath "port" $probe.port "scheme" $probe.scheme)) (fromJson `{"periodSeconds":5,"timeoutSeconds":3,"failureThreshold":2}`) .Values.readinessProbe) -}}
{{- $_ := set $facts "livenessProbe" (mergeOverwrite (dict "httpGet" (dict "path" $probe.alivePath "port" $probe.port "scheme" $probe.scheme)) (fromJson `{"periodSeconds":10,"timeoutSeconds":5,"failureThreshold":3}`) .Values.livenessProbe) -}}

{{- /* How long the end takes: until nobody sends new requests, those in flight, and the traffic log. */ -}}
{{- $delay := include "sluice.milliseconds" (list "drain.delay" (($doc.drain).delay | default "0s")) | int64 -}}
{{- $timeout := include "sluice.milliseconds" (list "drain.timeout" (($doc.drain).timeout | default "30s")) | int64 -}}
{{- $preStop := divf (max 0 (sub 5000 $delay)) 1000 | ceil | int -}}
{{- $sleep := dict -}}
{{- if $preStop }}{{ $sleep = dict "preStop" (dict "sleep" (dict "seconds" $preStop)) }}{{ end -}}
{{- $_ := set $facts "lifecycle" (.Values.lifecycle | default $sleep) -}}
{{- $_ := set $facts "gracePeriodSeconds" (divf (add $delay $timeout 10000) 1000 | ceil | int | add $preStop) -}}

{{- /* Resources, and variables that the user gives. */ -}}
{{- $tiers := dict
  "W1" (dict "cpu" "1" "memory" "2Gi")
  "W2" (dict "cpu" "2" "memory" "2Gi")
  "W4" (dict "cpu" "4" "memory" "4Gi")
  "W8" (dict "cpu" "8" "memory" "8Gi") -}}
{{- $tier := get $tiers .Values.tier | required "tier is one of W1, W2, W4, W8" -}}
{{- with .Values.ephemeralStorage }}{{ $_ := set $tier "ephemeral-storage" . }}{{ end -}}
{{- $_ := set $facts "resources" (.Values.resources | default (dict "requests" $tier "limits" $tier)) -}}
{{- $environment := list -}}
{{- $given := list -}}
{{- range .Values.extraEnv }}{{ $given = append $given .name }}{{ end -}}

{{- /* What the document refers to: variables and files of the Secret. */ -}}
{{- $names := list -}}
{{- $secret := .Values.secrets.name -}}
{{- range regexFindAll "\\$\\{env:[A-Za-z_][A-Za-z0-9_]*(:-)?" $text -1 -}}
{{- $name := regexFind "[A-Za-z_][A-Za-z0-9_]*(:-)?$" . | trimSuffix ":-" -}}
{{- if not (has $name $given) -}}
{{- $names = append $names $name -}}
{{- if not (or $secret (hasSuffix ":-" .)) -}}
{{- fail (printf "the document refers to %s}; set secrets.name to the Secret that contains its value" .) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $secret -}}
{{- range $names | uniq | sortAlpha -}}
{{- $reference := dict "name" $secret "key" . "optional" true -}}
{{- $environment = append $environment (dict "name" . "valueFrom" (dict "secretKeyRef" $reference)) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $facts "environment" $environment -}}
{{- $paths := list -}}
{{- range regexFindAll "\\$\\{file:[^}/][^}]*" $text -1 -}}
{{- $paths = append $paths (regexReplaceAll "^[^:]*:" . "" | clean) -}}
{{- end -}}
{{- $items := list -}}
{{- range $paths | uniq | sortAlpha -}}
{{- if or (not $secret) (hasPrefix ".." .) -}}
{{- fail (printf "the document refers to the file '%s'; set secrets.name to the Secret that contains it, or use an absolute path" .) -}}
{{- end -}}
{{- $items = append $items (dict "key" (replace "/" "." .) "path" .) -}}
{{- end -}}
{{- $sources := list -}}
{{- if $items }}{{ $sources = list (dict "secret" (dict "name" $secret "items" $items "optional" true)) }}{{ end -}}
{{- $_ := set $facts "fileSources" $sources -}}
{{- $namespaces := list -}}
{{- range regexFindAll "k8s://[a-z0-9-]+[.][a-z0-9-]+" (toJson $doc.upstreams) -1 -}}
{{- $namespaces = append $namespaces (regexFind "[a-z0-9-]+$" .) -}}
{{- end -}}
{{- $_ := set $facts "serviceNamespaces" ($namespaces | uniq | sortAlpha) -}}

{{- /* The room that the traffic log needs, and its outputs. */ -}}
{{- $log := $doc.log | default dict -}}
{{- $targets := $log.targets | default list -}}
{{- $sink := $log.sink | default (ternary "none" "file" (gt (len $targets) 0)) -}}
{{- $outlets := prepend $targets (merge (dict "sink" $sink) $log) -}}
{{- $mebibytes := 256 -}}
{{- range $outlets -}}
{{- $settings := get . .sink | default dict -}}
{{- if eq .sink "file" -}}
{{- $mebibytes = addf $mebibytes (include "sluice.mebibytes" (list ($settings.maxBytes | default "1gb") "1gb")) -}}
{{- else if ne .sink "none" -}}
{{- $mebibytes = addf $mebibytes 256 (include "sluice.mebibytes" (list (($settings.spool).maxBytes | default "2gb") "2gb")) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $facts "sizeLimit" (printf "%dMi" ($mebibytes | ceil | int64)) -}}

{{- /* The ways out: by address where the document has one; a name of the cluster opens its namespace, any other its port. */ -}}
{{- $urls := list -}}
{{- range $name, $upstream := $doc.upstreams -}}
{{- if ($upstream.proxy).url }}{{ $urls = append $urls $upstream.proxy.url }}{{ else -}}
{{- range $upstream.targets -}}
{{- if kindIs "string" . }}{{ $urls = append $urls . }}{{ else if and .url (not (or .srv .service)) }}{{ $urls = append $urls .url }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range ($upstream.resolve).servers }}{{ $urls = append $urls (printf "dns://%v" .) }}{{ end -}}
{{- end -}}
{{- range $outlets -}}
{{- if eq .sink "elasticsearch" }}{{ $urls = concat $urls .elasticsearch.nodes }}{{ end -}}
{{- if eq .sink "syslog" }}{{ $urls = append $urls .syslog.address }}{{ end -}}
{{- if eq .sink "webhook" }}{{ $urls = append $urls .webhook.url }}{{ end -}}
{{- end -}}
{{- with ($doc.state).url }}{{ $urls = append $urls . }}{{ end -}}
{{- range ($doc.state).cluster }}{{ $urls = append $urls . }}{{ end -}}
{{- with ($doc.cache).url }}{{ $urls = append $urls . }}{{ end -}}
{{- with ((($doc.cache).serve).persist).url }}{{ $urls = append $urls . }}{{ end -}}
{{- $calls := dict
  "api-call" (list (list "calls" "*" "url") (list "calls" "*" "origins" "*"))
  "backend-auth" (list (list "oauth2" "tokenUrl"))
  "forward-auth" (list (list "url"))
  "jwt" (list (list "jwks" "url") (list "jwks" "discovery"))
  "ldap" (list (list "urls" "*"))
  "oauth2-introspection" (list (list "url"))
  "oidc" (list (list "issuer"))
  "oidc-backchannel-logout" (list (list "issuer")) -}}
{{- $chains := list $doc.policies -}}
{{- range $doc.policyGroups }}{{ $chains = append $chains . }}{{ end -}}
{{- range $doc.routes }}{{ $chains = append $chains .policies }}{{ end -}}
{{- range $chains -}}
{{- range . -}}
{{- if kindIs "map" . -}}
{{- $with := .with -}}
{{- range get $calls (toString .use) | default list -}}
{{- $urls = concat $urls (include "sluice.texts" (list $with .) | fromJsonArray) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $usual := dict "http" 80 "https" 443 "redis" 6379 "rediss" 6379 "udp" 514 "tcp" 601 "tls" 6514 "ldap" 389 "ldaps" 636 "dns" 53 -}}
{{- $addressed := dict -}}
{{- $elsewhere := dict -}}
{{- $namespaces = $facts.serviceNamespaces -}}
{{- range $urls -}}
{{- $scheme := regexFind "^[A-Za-z][A-Za-z0-9+.-]*" . | lower -}}
{{- $authority := regexReplaceAll "^[^:]*://([^/?#@]*@)?([^/?#]*).*$" . "$2" | lower -}}
{{- $written := regexFind ":[0-9]+$" $authority -}}
{{- $host := trimSuffix $written $authority | trimPrefix "[" | trimSuffix "]" -}}
{{- $port := regexReplaceAll "^:0*" $written "" | default (get $usual $scheme) | int -}}
{{- if not (or (contains "${" .) (contains "{{" $authority) (eq $scheme "k8s") (eq $port 0) (regexMatch "^(localhost|127[.][0-9.]+|::1)$" $host)) -}}
{{- $protocols := list "TCP" -}}
{{- if eq $scheme "udp" }}{{ $protocols = list "UDP" }}{{ else if eq $scheme "dns" }}{{ $protocols = list "UDP" "TCP" }}{{ end -}}
{{- $labels := splitList "." $host -}}
{{- $third := "" -}}
{{- if gt (len $labels) 2 }}{{ $third = index $labels 2 }}{{ end -}}
{{- range $protocols -}}
{{- $rule := dict "port" $port "protocol" . -}}
{{- if regexMatch "^[0-9.]+$|:" $host -}}
{{- $cidr := printf "%s/%d" $host (ternary 128 32 (contains ":" $host)) -}}
{{- $peer := dict "ipBlock" (dict "cidr" $cidr) -}}
{{- $_ := set $addressed (printf "%s %d %s" $host $port .) (dict "to" (list $peer) "ports" (list $rule)) -}}
{{- else if eq (len $labels) 1 }}{{ $namespaces = append $namespaces $.Release.Namespace -}}
{{- else if eq $third "svc" }}{{ $namespaces = append $namespaces (index $labels 1) -}}
{{- else -}}
{{- if eq (len $labels) 2 }}{{ $namespaces = append $namespaces (index $labels 1) }}{{ end -}}
{{- $_ := set $elsewhere (printf "%d %s" $port .) $rule -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $dns := .Values.networkPolicy.dns | default (`[{"namespaceSelector":{"matchLabels":{"kubernetes.io/metadata.name":"kube-system"}},"podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}},{"ipBlock":{"cidr":"169.254.20.10/32"}}]` | fromJsonArray) -}}
{{- $egress := list (dict "to" $dns "ports" (list (dict "port" 53 "protocol" "UDP") (dict "port" 53 "protocol" "TCP"))) -}}
{{- range keys $addressed | sortAlpha }}{{ $egress = append $egress (get $addressed .) }}{{ end -}}
{{- range $namespaces | uniq | sortAlpha -}}
{{- $selector := dict "namespaceSelector" (dict "matchLabels" (dict "kubernetes.io/metadata.name" .)) -}}
{{- $egress = append $egress (dict "to" (list $selector)) -}}
{{- end -}}
{{- $ports := list -}}
{{- range keys $elsewhere | sortAlpha }}{{ $ports = append $ports (get $elsewhere .) }}{{ end -}}
{{- if $ports }}{{ $egress = append $egress (dict "ports" $ports) }}{{ end -}}
{{- if $facts.serviceNamespaces -}}
{{- $server := dict "ports" (list (dict "port" 443 "protocol" "TCP") (dict "port" 6443 "protocol" "TCP")) -}}
{{- with .Values.networkPolicy.apiServer }}{{ $_ := set $server "to" . }}{{ end -}}
{{- $egress = append $egress $server -}}
{{- end -}}
{{- $_ := set $facts "egress" $egress -}}

{{- /* What values replace as a whole. */ -}}
{{- $_ := set $facts "strategy" (.Values.strategy | default (fromJson `{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1,"maxUnavailable":0}}`)) -}}
{{- $_ := set $facts "behavior" (.Values.autoscaling.behavior | default (fromJson `{"scaleDown":{"stabilizationWindowSeconds":300}}`)) -}}
{{- $chosen := include "sluice.selectorLabels" . | fromYaml -}}
{{- $spread := list -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" -}}
{{- $spread = append $spread (merge (dict "topologyKey" . "labelSelector" (dict "matchLabels" $chosen)) (fromJson `{"maxSkew":1,"whenUnsatisfiable":"ScheduleAnyway","matchLabelKeys":["pod-template-hash"]}`)) -}}
{{- end -}}
{{- $_ := set $facts "topologySpreadConstraints" (.Values.topologySpreadConstraints | default $spread) -}}
{{- $options := dict -}}
{{- range list "loadBalancerClass" "loadBalancerSourceRanges" "allocateLoadBalancerNodePorts" "ipFamilyPolicy" "ipFamilies" "internalTrafficPolicy" "sessionAffinity" "trafficDistribution" -}}
{{- $value := get $.Values.service . -}}
{{- if or $value (kindIs "bool" $value) }}{{ $_ := set $options . $value }}{{ end -}}
{{- end -}}
{{- $_ := set $facts "serviceOptions" $options -}}
{{- toJson $facts -}}
{{- end -}}
