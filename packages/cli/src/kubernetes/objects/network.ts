import { isIP } from 'node:net'
import type { Destination } from './destinations.js'
import type { DocumentFacts } from './document-facts.js'
import { type KubernetesObject, metadataOf, present, selectorLabels } from './object.js'
import { clientPorts, supervisorPorts } from './ports.js'
import type { NetworkSettings, ObjectSettings, Verbatim } from './settings.js'

/** The label that every namespace carries its own name under. */
const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'
/** Where API servers listen. */
export const API_SERVER_PORTS = [443, 6443]

/** The DNS of a cluster, and the cache of it that a node may have. */
export const CLUSTER_DNS: readonly Verbatim[] = [
  {
    namespaceSelector: { matchLabels: { [NAMESPACE_LABEL]: 'kube-system' } },
    podSelector: { matchLabels: { 'k8s-app': 'kube-dns' } },
  },
  { ipBlock: { cidr: '169.254.20.10/32' } },
]
/** Further Service settings, under `service` in the values of the chart. */
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

/** What clients in the cluster, an Ingress or a load balancer connect to; metrics and admin API are not part of it. */
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

/** Who may connect to the pods and whom they may connect to; what is not in it is refused. */
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
 * By address where the document has one. Policies know no names: a name of the cluster opens its namespace (the port of a
 * Service is not that of its pods), any other name opens its port everywhere.
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

/** `orders` is a Service of the same namespace; `orders.shop` may be one of another, and may be a name of the internet. */
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

/** Each destination once, in an order that does not depend on that of the document. */
function distinct(destinations: readonly Destination[], textOf: (one: Destination) => string): Destination[] {
  return [...new Map(destinations.map((one) => [textOf(one), one]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one)
}
