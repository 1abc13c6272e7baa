import { isIP } from 'node:net'
import { controllerEgress } from './controller.js'
import type { Destination } from './destinations.js'
import type { DocumentFacts } from './document-facts.js'
import { type KubernetesObject, metadataOf, present, selectorLabels } from './object.js'
import { clientPorts, supervisorPorts } from './ports.js'
import type { NetworkSettings, ObjectSettings, Verbatim } from './settings.js'

/** Namespace label with the name of the namespace. */
const NAMESPACE_LABEL = 'kubernetes.io/metadata.name'
/** Usual ports of API servers. */
export const API_SERVER_PORTS = [portOf(443), portOf(6443)]
/** Ports of DNS servers. */
export const DNS_PORTS = [portOf(53, 'UDP'), portOf(53)]

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
      ports: servicePorts(facts),
    }),
  }
}

/** Returns the ports of the Service. */
export function servicePorts(facts: DocumentFacts): object[] {
  return clientPorts(facts).map(({ name, servicePort }) => ({
    name,
    port: servicePort,
    targetPort: name,
    protocol: 'TCP',
  }))
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
      egress: [
        ...egress(facts, settings.namespace, network),
        ...(settings.control === undefined ? [] : [controllerEgress(settings.control)]),
        ...(network.egress ?? []),
      ],
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

/** Egress that the destinations of a document need. */
export interface DocumentEgress {
  /** Rules for IP addresses. */
  readonly addressed: readonly object[]
  /** Namespaces of destinations with a cluster name. */
  readonly namespaces: readonly string[]
  /** True if a destination is in the namespace of the gateway. */
  readonly usesOwnNamespace: boolean
  /** Ports of destinations outside the cluster, open for all addresses. */
  readonly ports: readonly object[]
}

/**
 * Returns the egress of a document. IP addresses get exact rules. NetworkPolicies do not support host names: a cluster
 * name opens its whole namespace, because the pod port may differ from the Service port. Any other name opens its port
 * for all addresses.
 */
export function documentEgress({ destinations, serviceNamespaces }: DocumentFacts): DocumentEgress {
  const { known } = destinations
  const addressed = known.filter(({ host }) => isIP(host) !== 0)
  const named = known.filter(({ host }) => isIP(host) === 0)
  const elsewhere = named.filter(({ host }) => isPublic(host))
  return {
    addressed: distinct(addressed, ({ host, port, protocol }) => `${host} ${port} ${protocol}`).map(
      addressRule,
    ),
    namespaces: sortedSet([...serviceNamespaces, ...named.flatMap(({ host }) => namespacesOf(host))]),
    usesOwnNamespace: named.some(({ host }) => !host.includes('.')),
    ports: distinct(elsewhere, ({ port, protocol }) => `${port} ${protocol}`).map(({ port, protocol }) =>
      portOf(port, protocol),
    ),
  }
}

function egress(facts: DocumentFacts, own: string, network: NetworkSettings): object[] {
  const { addressed, namespaces, usesOwnNamespace, ports } = documentEgress(facts)
  const { dns = [], apiServer = [] } = network
  const opened = sortedSet([...namespaces, ...(usesOwnNamespace ? [own] : [])])
  const discovery = present({ to: apiServer, ports: API_SERVER_PORTS })
  return [
    { to: dns.length === 0 ? CLUSTER_DNS : dns, ports: DNS_PORTS },
    ...addressed,
    ...opened.map((name) => ({ to: [inNamespace(name)] })),
    ...(ports.length === 0 ? [] : [{ ports }]),
    ...(facts.serviceNamespaces.length === 0 ? [] : [discovery]),
  ]
}

/** Returns the possible namespaces of a host with dots: `orders.shop` may be in `shop`. */
function namespacesOf(host: string): string[] {
  const [, second, third] = host.split('.')
  return second !== undefined && (third === undefined || third === 'svc') ? [second] : []
}

function isPublic(host: string): boolean {
  const labels = host.split('.')
  return labels.length === 2 || (labels.length > 2 && labels[2] !== 'svc')
}

function addressRule({ host, port, protocol }: Destination): object {
  const cidr = `${host}/${isIP(host) === 4 ? 32 : 128}`
  return { to: [{ ipBlock: { cidr } }], ports: [portOf(port, protocol)] }
}

/** Returns a port in the syntax of a NetworkPolicy. */
export function portOf(port: number, protocol: Destination['protocol'] = 'TCP'): object {
  return { port, protocol }
}

function inNamespace(name: string): Verbatim {
  return { namespaceSelector: { matchLabels: { [NAMESPACE_LABEL]: name } } }
}

function sortedSet(names: readonly string[]): string[] {
  return [...new Set(names)].sort()
}

/** Removes duplicates and sorts, so that the order in the document does not matter. */
function distinct(destinations: readonly Destination[], textOf: (one: Destination) => string): Destination[] {
  return [...new Map(destinations.map((one) => [textOf(one), one]))]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, one]) => one)
}
