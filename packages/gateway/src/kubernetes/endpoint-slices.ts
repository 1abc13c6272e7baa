import { BlockList, isIP } from 'node:net'
import type { ServicePlan } from '@sluice/config'
import { isMetadataAddress } from '@sluice/core'

/** The parts of an EndpointSlice (discovery.k8s.io/v1) that are used. */
export interface EndpointSlice {
  readonly name: string
  readonly ports: readonly SlicePort[]
  readonly endpoints: readonly SliceEndpoint[]
}

interface SlicePort {
  readonly name: string
  readonly port: number
}

interface SliceEndpoint {
  /** First usable address, or null. */
  readonly address: string | null
  readonly isReady: boolean
  readonly isServing: boolean
  readonly isTerminating: boolean
}

/** A pod that can receive requests. */
export interface ServiceEndpoint {
  readonly address: string
  readonly port: number
}

/** The usable pods of a Service. */
export interface ServiceAnswer {
  readonly endpoints: readonly ServiceEndpoint[]
  /** Reason why there are none, or null. */
  readonly problem: string | null
}

/** Maximum number of pods per Service. Larger Services are rare; further pods are not used. */
export const MAX_SERVICE_ENDPOINTS = 256

/** Kubernetes limits for slices and port names. Anything beyond them is ignored. */
const MAX_SLICE_ENDPOINTS = 1000
const MAX_SLICE_PORTS = 100
const MAX_PORT_NAME_CHARS = 63
/** Maximum number of ports listed in a message. */
const MAX_NAMED_PORTS = 10

/**
 * Addresses that pods cannot have. Someone who can write EndpointSlices must not reach services beside the
 * gateway.
 */
const FORBIDDEN = forbiddenAddresses()

/**
 * Parses an item of a list or the object of an event. Returns null if it is not an EndpointSlice with IP
 * addresses.
 */
export function readSlice(value: unknown): EndpointSlice | null {
  const { metadata, addressType, ports, endpoints } = partOf(value)
  const name = partOf(metadata)['name']
  if (typeof name !== 'string' || (addressType !== 'IPv4' && addressType !== 'IPv6')) return null
  return {
    name,
    ports: listOf(ports).slice(0, MAX_SLICE_PORTS).flatMap(readPort),
    endpoints: listOf(endpoints).slice(0, MAX_SLICE_ENDPOINTS).map(readEndpoint),
  }
}

function readPort(value: unknown): SlicePort[] {
  const { name, port, protocol } = partOf(value)
  const isUsed = typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536
  if (!isUsed || (protocol ?? 'TCP') !== 'TCP') return []
  return [{ name: typeof name === 'string' ? name.slice(0, MAX_PORT_NAME_CHARS) : '', port }]
}

/**
 * Parses an endpoint, with the API's defaults: ready, serving like ready, not terminating. All addresses of
 * an endpoint belong to the same pod, so the first is used.
 */
function readEndpoint(value: unknown): SliceEndpoint {
  const { addresses, conditions } = partOf(value)
  const { ready, serving, terminating } = partOf(conditions)
  return {
    address: listOf(addresses).find(isPodAddress) ?? null,
    isReady: ready !== false,
    isServing: (serving ?? ready) !== false,
    isTerminating: terminating === true,
  }
}

/**
 * Returns the pods of a Service for one of its ports: the ready ones, or if there are none, those that are
 * terminating and still serve. Prefers IPv4, because a dual-stack Service lists each pod twice.
 */
export function endpointsOf(
  { namespace, name, port }: ServicePlan,
  slices: Iterable<EndpointSlice>,
): ServiceAnswer {
  const ready = new Map<string, ServiceEndpoint>()
  const ending = new Map<string, ServiceEndpoint>()
  const ports = new Set<string>()
  for (const slice of slices) {
    for (const each of slice.ports)
      ports.add(each.name === '' ? `${each.port}` : `${each.port} (${each.name})`)
    const number = slice.ports.find((each) => each.name === port || String(each.port) === port)?.port
    if (number === undefined) continue
    for (const endpoint of slice.endpoints) addTo(endpoint.isReady ? ready : ending, endpoint, number)
  }
  const endpoints = oneFamily([...(ready.size > 0 ? ready : ending).values()])
  if (endpoints.length > 0) return { endpoints: endpoints.slice(0, MAX_SERVICE_ENDPOINTS), problem: null }
  const service = `${name} in namespace ${namespace}`
  if (ports.size === 0) return none(`the Service ${service} has no pods, or there is no such Service`)
  const more = ports.size > MAX_NAMED_PORTS ? ' …' : ''
  const names = [...ports].slice(0, MAX_NAMED_PORTS).join(', ') + more
  const hasPort = [...ports].some(
    (text) => text === port || text.startsWith(`${port} `) || text.endsWith(`(${port})`),
  )
  return none(
    hasPort
      ? `no pod of the Service ${service} is ready`
      : `no pod of the Service ${service} has port ${port}; available: ${names}`,
  )
}

function none(problem: string): ServiceAnswer {
  return { endpoints: [], problem }
}

function addTo(found: Map<string, ServiceEndpoint>, endpoint: SliceEndpoint, port: number): void {
  const { address } = endpoint
  const isUsed = endpoint.isReady || (endpoint.isServing && endpoint.isTerminating)
  if (address === null || !isUsed) return
  found.set(`${address} ${port}`, { address, port })
}

function oneFamily(endpoints: readonly ServiceEndpoint[]): ServiceEndpoint[] {
  const v4 = endpoints.filter(({ address }) => isIP(address) === 4)
  const chosen = v4.length > 0 ? v4 : [...endpoints]
  return chosen.sort((a, b) => (`${a.address} ${a.port}` < `${b.address} ${b.port}` ? -1 : 1))
}

function isPodAddress(address: unknown): address is string {
  if (typeof address !== 'string') return false
  const family = isIP(address)
  if (family === 0 || isMetadataAddress(address)) return false
  if (family === 4) return !FORBIDDEN[4].check(address, 'ipv4')
  return !FORBIDDEN[6].check(address, 'ipv6')
}

/**
 * Returns the addresses that the API server also forbids for endpoints: unspecified, loopback, link-local,
 * multicast, and IPv4 within IPv6.
 */
function forbiddenAddresses(): Readonly<Record<4 | 6, BlockList>> {
  const [v4, v6] = [new BlockList(), new BlockList()]
  const nets4 = { '0.0.0.0': 8, '127.0.0.0': 8, '169.254.0.0': 16, '224.0.0.0': 4 }
  for (const [net, bits] of Object.entries(nets4)) v4.addSubnet(net, bits, 'ipv4')
  // `::ffff:0:0` is another notation for IPv4. In a list of both families it would match all of IPv4.
  const nets6 = { '::': 96, '64:ff9b::': 96, '2002::': 16, 'fe80::': 10, 'ff00::': 8, '::ffff:0:0': 96 }
  for (const [net, bits] of Object.entries(nets6)) v6.addSubnet(net, bits, 'ipv6')
  return { 4: v4, 6: v6 }
}

function partOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
