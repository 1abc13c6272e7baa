import type { ListenerPlan, Plan } from '@sluice/config'
import { type Consumer, compileCidrs, type ReceivedExchange, type Reply } from '@sluice/core'
import { applyClientAddress } from '../listen/client-address.js'
import type { ListenerSettings } from '../listen/listener.js'
import { ASCII_FIELDS, RequestHead } from '../listen/request-head.js'
import { applyTarget } from '../listen/request-target.js'

/** A request to explain. Nothing is sent. */
export interface ExplainedRequest {
  readonly method: string
  /** Path with its query, or an absolute URL. */
  readonly url: string
  /** Header fields with lower-case names. A `host` among them takes precedence over the URL. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array | null
  /** Address of the client's end of the connection. */
  readonly clientIp: string
  /** Consumer to assume as authenticated; absent to assume none. */
  readonly consumer?: Consumer
}

/** Parts of a request's URL, unchecked. */
export interface Target {
  readonly authority: string | null
  readonly path: string
  /** Query without "?", or null if there is none. */
  readonly query: string | null
}

/**
 * Splits a path or URL. It does not use the URL class, which would normalize the path that the gateway has to
 * check.
 * @throws RangeError if it is neither.
 */
export function targetOf(url: string): Target {
  const match = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)?(?:\?([^#]*))?(?:#.*)?$/i.exec(url)
  const [, authority = null, path, query = null] = match ?? []
  if (match === null || (authority === null && path === undefined))
    throw new RangeError(
      `'${url}' is neither a path nor a URL; write /orders/7 or http://api.example.com/orders/7`,
    )
  return { authority, path: path ?? '/', query }
}

/** Returns the listener with the target's port, or the first one. */
export function listenerFor(plan: Plan, { authority }: Target): ListenerPlan {
  const port = Number(/:(\d+)$/.exec(authority ?? '')?.[1])
  return plan.listeners.find((listener) => listener.port === port) ?? plan.listeners[0]!
}

/** Fills the exchange as a listener does. Returns a reply if the listener refuses the request. */
export function applyRequest(
  x: ReceivedExchange,
  request: ExplainedRequest,
  at: { readonly target: Target; readonly listener: ListenerPlan },
): Reply | null {
  const { target, listener } = at
  const settings = settingsOf(listener)
  x.method = request.method
  x.scheme = listener.tls === null ? 'http' : 'https'
  x.peer = request.clientIp
  x.bodyLimit = settings.bodyBytes
  const head = listener.engine === 'uws' ? new RequestHead(ASCII_FIELDS) : new RequestHead()
  addLines(head, request, target.authority ?? authorityOf(listener))
  const badHead = head.apply(x, settings)
  const badTarget = applyTarget(x, target.path, target.query, settings)
  const badHop = applyClientAddress(x, settings)
  return badHead ?? badTarget ?? badHop
}

/** Adds the given header lines and those that clients add by default. */
function addLines(head: RequestHead, request: ExplainedRequest, authority: string): void {
  head.begin()
  const has = (name: string): boolean => request.headers.some(([other]) => other === name)
  if (!has('host')) head.add('host', authority)
  for (const [name, value] of request.headers) head.add(name, Buffer.from(value).toString('latin1'))
  const isFramed = has('content-length') || has('transfer-encoding')
  if (request.body !== null && !isFramed) head.add('content-length', String(request.body.length))
}

function settingsOf(listener: ListenerPlan): ListenerSettings {
  const { limits, health, paths, http2, trustedProxies, proxyProtocol, allowHalfClose, forwardedHeader } =
    listener
  const trusted = compileCidrs(trustedProxies)
  return { ...limits, health, paths, http2, proxyProtocol, allowHalfClose, forwardedHeader, trusted }
}

/** Returns the Host that a client on this machine would send. */
function authorityOf({ host, port }: ListenerPlan): string {
  const isEveryAddress = host === '0.0.0.0' || host === '::' || host === '[::]'
  const name = isEveryAddress ? 'localhost' : host
  const authority = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  return port === 0 ? authority : `${authority}:${port}`
}
