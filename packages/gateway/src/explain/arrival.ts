import type { ListenerPlan, Plan } from '@sluice/config'
import { type Consumer, compileCidrs, type Exchange, type Reply } from '@sluice/core'
import { applyClientAddress } from '../data-plane/listener/client-address.js'
import type { ListenerSettings } from '../data-plane/listener/listener.js'
import { ASCII_FIELDS, RequestHead } from '../data-plane/listener/request-head.js'
import { applyTarget } from '../data-plane/listener/request-target.js'

/** A request to be explained; nothing is sent. */
export interface ExplainedRequest {
  readonly method: string
  /** A path with its query, or an absolute URL. */
  readonly url: string
  /** Names in lower case. A `host` among them wins over that of the URL. */
  readonly headers: readonly (readonly [string, string])[]
  readonly body: Uint8Array | null
  /** Address of the connection's other end. */
  readonly clientIp: string
  /** Who is calling, once a policy has authenticated them; absent: nobody is assumed. */
  readonly consumer?: Consumer
}

/** Where a request goes, before any check. */
export interface Target {
  readonly authority: string | null
  readonly path: string
  /** Null without "?". */
  readonly query: string | null
}

/**
 * Takes a path or a URL apart; not with the URL class, which would tidy up the path that the gateway is to check.
 * @throws RangeError when it is neither.
 */
export function targetOf(url: string): Target {
  const match = /^(?:https?:\/\/([^/?#]+))?(\/[^?#]*)?(?:\?([^#]*))?(?:#.*)?$/i.exec(url)
  const [, authority = null, path, query = null] = match ?? []
  if (match === null || (authority === null && path === undefined)) {
    throw new RangeError(
      `'${url}' is neither a path nor a URL; write /orders/7 or http://api.example.com/orders/7`,
    )
  }
  return { authority, path: path ?? '/', query }
}

/** The listener with the port of the target, else the first. */
export function listenerFor(plan: Plan, { authority }: Target): ListenerPlan {
  const port = Number(/:(\d+)$/.exec(authority ?? '')?.[1])
  return plan.listeners.find((listener) => listener.port === port) ?? plan.listeners[0]!
}

/** Checks a request and fills the exchange as a listener does; a reply means that the listener refuses it. */
export function takeIn(
  x: Exchange,
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

/** Adds the given header lines and those that a client adds by default. */
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

/** What a client on this machine would send as Host. */
function authorityOf({ host, port }: ListenerPlan): string {
  const isEveryAddress = host === '0.0.0.0' || host === '::' || host === '[::]'
  const name = isEveryAddress ? 'localhost' : host
  const authority = name.includes(':') && !name.startsWith('[') ? `[${name}]` : name
  return port === 0 ? authority : `${authority}:${port}`
}
