import { isIP } from 'node:net'
import type { Destination } from './destinations.js'
import type { DocumentFacts } from './document-facts.js'
import { type KubernetesObject, metadataOf, present, selectorLabels } from './object.js'
import { clientPorts, supervisorPorts } from './ports.js'
import type { NetworkSettings, ObjectSettings, Verbatim } from './settings.js'

/** Namespace label with the name of the namespace. */
const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'
/** Usual ports of API servers. */
export const API_SERVER_PORTS = [443, 6443]

/** Peers for the cluster DNS and the node-local DNS cache. */
export const CLUSTER_DNS: readonly Verbatim[] = [
  {
    namespaceSelector: { matchLabels: { [NAMESPACE_LABEL]: 'kube-system' } },
    podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
  },
  { ipBlock: { cidr: '169.254.20.10/32' } },
]
/** Optional fields of a Service `spec`. They have the same names under `service` in the chart values. */
export const SERVICE_OPTIONS = [
  'loadBalancerClass',
  'loadBalancerSourceRanges',
  'allocateLoadBalancerNodePorts',
  'ipFamilyPolicy',
  'ipFamilies',
  'internalTrafficPolicy',
  'sessionAffinity',
  'trafficDistribution',
]

/** Returns the Service for clients, an Ingress or a load balancer. Metrics and admin API are not part of it. */
export function service(facts: DocumentFacts, settings: ObjectSettings): KubernetesObject {
  const { type = 'ClusterIP', annotations, externalTrafficPolicy, options } = settings.service ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { ...metadataOf(settings), ...(annotations === undefined ? {} : { annotations }) },
    spec: present({
      type,
      externalTrafficPolicy,
      ...options,
      selector: selectorLabels(settings),
      ports: clientPorts(facts).map(({ name, servicePort }) => ({
        name,
        port: servicePort,
        targetPort: name,
        protocol: 'TCP',
      })),
    }),
  }
}

/** Returns the NetworkPolicy with the allowed connections to and from the pods. */
export function networkPolicy(
  facts: DocumentFacts,
  settings: ObjectSettings,
  network: NetworkSettings,
): KubernetesObject {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadataOf(settings),
    spec: {
      podSelector: { matchLabels: selectorLabels(settings) },
      policyTypes: ['Ingress', 'Egress'],
      ingress: ingress(facts, network),
      egress: [...egress(facts, settings.namespace, network), ...(network.egress ?? [])],
    },
  }
}

function ingress(facts: DocumentFacts, network: NetworkSettings): object[] {
  const { clients = [], monitoringNamespace = 'monitoring' } = network
  const supervisor = supervisorPorts(facts)
  const observers = [{ podSelector: {} }, inNamespace(monitoringNamespace)]
  return [
    present({ from: clients, ports: clientPorts(facts).map(({ port }) => portOf(port)) }),
    ...(supervisor.length === 0
      ? []
      : [{ from: observers, ports: supervisor.map(({ port }) => portOf(port)) }]),
  ]
}

/**
 * Returns the egress rules. IP addresses get exact rules. NetworkPolicies do not support host names: a cluster name
 * opens its whole namespace, because the pod port may differ from the Service port. Any other name opens its port for
 * all addresses.
 */
function egress(facts: DocumentFacts, own: string, network: NetworkSettings): object[] {
  const { destinations, serviceNamespaces } = facts
  const { dns = [], apiServer: apiServers = [] } = network
  const { known } = destinations
  const addressed = known.filter(({ host }) => isIP(host) !== 0)
  const named = known.filter(({ host }) => isIP(host) === 0)
  const namespaces = [...serviceNamespaces, ...named.flatMap(({ host }) => namespacesOf(host, own))]
  const elsewhere = named.filter(({ host }) => isPublic(host))
  const apiServer = serviceNamespaces.length === 0 ? [] : API_SERVER_PORTS.map((port) => portOf(port))
  return [
    { to: dns.length === 0 ? CLUSTER_DNS : dns, ports: [portOf(53, 'UDP'), portOf(53)] },
    ...distinct(addressed, ({ host, port, protocol }) => `${host} ${port} ${protocol}`).map(addressRule),
    ...[...new Set(namespaces)].sort().map((name) => ({ to: [inNamespace(name)] })),
    ...(elsewhere.length === 0
      ? []
      : [{ ports: distinct(elsewhere, ({ port, protocol }) => `${port} ${protocol}`).map(portRule) }]),
    ...(apiServer.length === 0 ? [] : [present({ to: apiServers, ports: apiServer })]),
  ]
}

/** Returns the possible namespaces of a host. `orders` is in the own namespace, `orders.shop` may be in `shop`. */
function namespacesOf(host: string, own: string): string[] {
  const [, second, third] = host.split('.')
  if (second === undefined) return [own]
  return third === undefined || third === 'svc' ? [second] : []
}

function isPublic(host: string): boolean {
  const labels = host.split('.')
  return labels.length === 2 || (labels.length > 2 && labels[2] !== 'svc')
}

function addressRule({ host, port, protocol }: Destination): object {
  const cidr = `${host}/${isIP(host) === 4 ? 32 : 128}`
  return { to: [{ ipBlock: { cidr } }], ports: [portOf(port, protocol)] }
}

function portRule({ port, protocol }: Destination): object {
  return portOf(port, protocol)
}

function portOf(port: number, protocol: Destination['protocol'] = 'TCP'): object {
  return { port, protocol }
}

function inNamespace(name: string): Verbatim {
  return { namespaceSelector: { matchLabels: { [NAMESPACE_LABEL]: name } } }
}

/** Removes duplicates and sorts, so that the order in the document does not matter. */
function distinct(destinations: readonly Destination[], textOf: (one: Destination) => string): Destination[] {
  return [...new Map(destinations.map((one) => [textOf(one), one]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one)
}
