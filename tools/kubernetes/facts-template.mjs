import { PORTS } from '../../packages/cli/dist/kubernetes/objects/destinations.js'
import { DEAD_LETTER_BYTES } from '../../packages/cli/dist/kubernetes/objects/document-facts.js'
import {
  API_SERVER_PORTS,
  CLUSTER_DNS,
  SERVICE_OPTIONS,
} from '../../packages/cli/dist/kubernetes/objects/network.js'
import { BEHAVIOR } from '../../packages/cli/dist/kubernetes/objects/scaling.js'
import { TIERS, tierResources } from '../../packages/cli/dist/kubernetes/objects/tiers.js'
import {
  DATA_BYTES,
  MARGIN_MS,
  PROBE_TIMES,
  PROPAGATION_MS,
  SPREAD,
  SPREAD_OVER,
  STRATEGY,
} from '../../packages/cli/dist/kubernetes/objects/workload.js'
import { DRAIN_GRACE_MS } from '../../packages/gateway/dist/index.js'
import { catalog } from '../../packages/policies/dist/index.js'

const MIB = 1024 ** 2
/** Start of a reference, and of an escaped reference. */
const REFERENCE = '${'
const ESCAPED = '$${'

/**
 * Returns the Helm template that derives facts from the document, as packages/cli/src/kubernetes/objects does.
 */
export function factsTemplate() {
  return `${INTRODUCTION}${DOCUMENT}${UNITS}${PORT}${TEXTS}${facts()}`
}

const INTRODUCTION = `{{- /*
What follows from the document: ports, probes, ways out, times and room. This file is made by tools/kubernetes, from the same
source as the manifests in deploy/kubernetes.
*/ -}}

`

const DOCUMENT = String.raw`{{- /* The text of the document, with one line break at its end. */ -}}
{{- define "sluice.document" -}}
{{ trimSuffix "\n" (required "document is empty; for example --set-file document=gateway.yaml" .Values.document) }}
{{ end -}}

`

const UNITS = `{{- /* Milliseconds of a duration; the context is its place and the text. */ -}}
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
{{- if contains "${REFERENCE}" $text }}{{ $text = index . 1 }}{{ end -}}
{{- $number := regexFind "^[0-9.]+" $text -}}
{{- $unit := get (dict "b" 1 "kb" 1024 "mb" 1048576 "gb" 1073741824) (trimPrefix $number $text) -}}
{{- divf (mulf $number $unit) 1048576 -}}
{{- end -}}

`

const PORT = String.raw`{{- /* The port of an address that others than the pod can reach, else nothing; the context is its place and the text. */ -}}
{{- define "sluice.port" -}}
{{- $text := index . 1 | toString | lower -}}
{{- $port := regexReplaceAll "^:0*" (regexFind ":[0-9]+$" $text) "" -}}
{{- if or (not $port) (contains "${REFERENCE}" $text) -}}
{{- fail (printf "%s.address is '%s'; use a fixed port, such as ':8080'" (index . 0) $text) -}}
{{- end -}}
{{- if not (regexMatch "^(localhost|127[.][0-9.]+|\\[::1\\]):" $text) }}{{ $port }}{{ end -}}
{{- end -}}

`

/** Checks for values that exclude each other. */
const VALUES = `{{- $pods := .Values.autoscaling -}}
{{- if and $pods.enabled (lt (int $pods.maxReplicas) (int .Values.replicaCount)) -}}
{{- fail (printf "autoscaling.maxReplicas is %v; use at least %v, the value of replicaCount" $pods.maxReplicas .Values.replicaCount) -}}
{{- end -}}
{{- if and .Values.service.externalTrafficPolicy (eq .Values.service.type "ClusterIP") -}}
{{- fail "service.externalTrafficPolicy is for service.type NodePort and LoadBalancer" -}}
{{- end -}}
`

const TEXTS = `{{- /* The texts at a path of a value, as JSON; a star is each item of a list. The context is both. */ -}}
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

`

function facts() {
  return `{{- define "sluice.facts" -}}
{{- $doc := include "sluice.document" . | fromYaml -}}
{{- if hasKey $doc "Error" }}{{ fail (printf "document is not YAML: %s" $doc.Error) }}{{ end -}}
{{- $text := toJson $doc | replace "${ESCAPED}" "" -}}
{{- $facts := dict -}}
${VALUES}${listenerFacts()}${supervisorFacts()}${drainFacts()}${sizeFacts()}${referenceFacts()}${roomFacts()}${egressFacts()}${platformFacts()}{{- toJson $facts -}}
{{- end -}}
`
}

function listenerFacts() {
  return `
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
`
}

function supervisorFacts() {
  return `
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
${Object.entries(PROBE_TIMES).map(probeFacts).join('')}`
}

function probeFacts([name, times]) {
  const path = name === 'readinessProbe' ? 'readyPath' : 'alivePath'
  const asked = `(dict "httpGet" (dict "path" $probe.${path} "port" $probe.port "scheme" $probe.scheme))`
  return `{{- $_ := set $facts "${name}" (mergeOverwrite ${asked} (${literal(times)}) .Values.${name}) -}}\n`
}

/** Returns the platform settings that users replace as a whole, with their defaults. */
function platformFacts() {
  const spread = `(dict "topologyKey" . "labelSelector" (dict "matchLabels" $chosen))`
  return `
{{- /* What values replace as a whole. */ -}}
{{- $_ := set $facts "strategy" (.Values.strategy | default (${literal(STRATEGY)})) -}}
{{- $_ := set $facts "behavior" (.Values.autoscaling.behavior | default (${literal(BEHAVIOR)})) -}}
{{- $chosen := include "sluice.selectorLabels" . | fromYaml -}}
{{- $spread := list -}}
{{- range list ${SPREAD_OVER.map((key) => `"${key}"`).join(' ')} -}}
{{- $spread = append $spread (merge ${spread} (${literal(SPREAD)})) -}}
{{- end -}}
{{- $_ := set $facts "topologySpreadConstraints" (.Values.topologySpreadConstraints | default $spread) -}}
{{- $options := dict -}}
{{- range list ${SERVICE_OPTIONS.map((key) => `"${key}"`).join(' ')} -}}
{{- $value := get $.Values.service . -}}
{{- if or $value (kindIs "bool" $value) }}{{ $_ := set $options . $value }}{{ end -}}
{{- end -}}
{{- $_ := set $facts "serviceOptions" $options -}}
`
}

/** Returns a value as a Helm expression. */
const literal = (value) => `fromJson \`${JSON.stringify(value)}\``

function drainFacts() {
  return `
{{- /* How long the end takes: until nobody sends new requests, those in flight, and the traffic log. */ -}}
{{- $delay := include "sluice.milliseconds" (list "drain.delay" (($doc.drain).delay | default "0s")) | int64 -}}
{{- $timeout := include "sluice.milliseconds" (list "drain.timeout" (($doc.drain).timeout | default "30s")) | int64 -}}
{{- $preStop := divf (max 0 (sub ${PROPAGATION_MS} $delay)) 1000 | ceil | int -}}
{{- $sleep := dict -}}
{{- if $preStop }}{{ $sleep = dict "preStop" (dict "sleep" (dict "seconds" $preStop)) }}{{ end -}}
{{- $_ := set $facts "lifecycle" (.Values.lifecycle | default $sleep) -}}
{{- $_ := set $facts "gracePeriodSeconds" (divf (add $delay $timeout ${DRAIN_GRACE_MS + MARGIN_MS}) 1000 | ceil | int | add $preStop) -}}
`
}

function sizeFacts() {
  const tiers = Object.keys(TIERS).map((tier) => {
    const { cpu, memory } = tierResources(tier).limits
    return `"${tier}" (dict "cpu" "${cpu}" "memory" "${memory}")`
  })
  return `
{{- /* Resources, and variables that the user gives. */ -}}
{{- $tiers := dict
  ${tiers.join('\n  ')} -}}
{{- $tier := get $tiers .Values.tier | required "tier is one of ${Object.keys(TIERS).join(', ')}" -}}
{{- with .Values.ephemeralStorage }}{{ $_ := set $tier "ephemeral-storage" . }}{{ end -}}
{{- $_ := set $facts "resources" (.Values.resources | default (dict "requests" $tier "limits" $tier)) -}}
{{- $environment := list -}}
{{- $given := list -}}
{{- range .Values.extraEnv }}{{ $given = append $given .name }}{{ end -}}
`
}

function referenceFacts() {
  return String.raw`
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
`
}

function roomFacts() {
  return `
{{- /* The room that the traffic log needs, and its outputs. */ -}}
{{- $log := $doc.log | default dict -}}
{{- $targets := $log.targets | default list -}}
{{- $sink := $log.sink | default (ternary "none" "file" (gt (len $targets) 0)) -}}
{{- $outlets := prepend $targets (merge (dict "sink" $sink) $log) -}}
{{- $mebibytes := ${DATA_BYTES / MIB} -}}
{{- range $outlets -}}
{{- $settings := get . .sink | default dict -}}
{{- if eq .sink "file" -}}
{{- $mebibytes = addf $mebibytes (include "sluice.mebibytes" (list ($settings.maxBytes | default "1gb") "1gb")) -}}
{{- else if ne .sink "none" -}}
{{- $mebibytes = addf $mebibytes ${DEAD_LETTER_BYTES / MIB} (include "sluice.mebibytes" (list (($settings.spool).maxBytes | default "2gb") "2gb")) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $facts "sizeLimit" (printf "%dMi" ($mebibytes | ceil | int64)) -}}
`
}

function egressFacts() {
  const ports = Object.entries(PORTS).map(([protocol, port]) => `"${protocol.slice(0, -1)}" ${port}`)
  return `
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
${policyCalls()}{{- $usual := dict ${ports.join(' ')} -}}
{{- $addressed := dict -}}
{{- $elsewhere := dict -}}
{{- $namespaces = $facts.serviceNamespaces -}}
{{- range $urls -}}
{{- $scheme := regexFind "^[A-Za-z][A-Za-z0-9+.-]*" . | lower -}}
{{- $authority := regexReplaceAll "^[^:]*://([^/?#@]*@)?([^/?#]*).*$" . "$2" | lower -}}
{{- $written := regexFind ":[0-9]+$" $authority -}}
{{- $host := trimSuffix $written $authority | trimPrefix "[" | trimSuffix "]" -}}
{{- $port := regexReplaceAll "^:0*" $written "" | default (get $usual $scheme) | int -}}
{{- if not (or (contains "${REFERENCE}" .) (contains "{{" $authority) (eq $scheme "k8s") (eq $port 0) (regexMatch "^(localhost|127[.][0-9.]+|::1)$" $host)) -}}
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
{{- $dns := .Values.networkPolicy.dns | default (\`${JSON.stringify(CLUSTER_DNS)}\` | fromJsonArray) -}}
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
{{- $server := dict "ports" (list ${API_SERVER_PORTS.map((port) => `(dict "port" ${port} "protocol" "TCP")`).join(' ')}) -}}
{{- with .Values.networkPolicy.apiServer }}{{ $_ := set $server "to" . }}{{ end -}}
{{- $egress = append $egress $server -}}
{{- end -}}
{{- $_ := set $facts "egress" $egress -}}
`
}

/** Returns the servers that policies call, found by `destination` in their schemas. */
function policyCalls() {
  const calls = [...catalog]
    .map(([use, { schema }]) => [use, markedPaths(schema)])
    .filter(([, paths]) => paths.length > 0)
    .map(([use, paths]) => `"${use}" (list ${paths.map(listOf).join(' ')})`)
  return `{{- $calls := dict
  ${calls.join('\n  ')} -}}
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
`
}

const listOf = (keys) => `(list ${keys.map((key) => `"${key}"`).join(' ')})`

/** Returns the paths of destinations in a schema. A star stands for each item of a list. */
function markedPaths(schema) {
  if (schema.destination === true) return [[]]
  const below = [...Object.entries(schema.properties ?? {}), ...(schema.items ? [['*', schema.items]] : [])]
  return below.flatMap(([key, part]) => markedPaths(part).map((path) => [key, ...path]))
}
