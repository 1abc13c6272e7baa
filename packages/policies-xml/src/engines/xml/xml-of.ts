import { type BodyView, type Exchange, UnreadableBody } from '@sluice/core'
import { parseXml } from './gate.js'
import { DEFAULT_DEPTH } from './limits.js'
import { unreadableXml } from './unreadable-xml.js'
import type { XmlView } from './view.js'

/**
 * Returns the document in a body. It is parsed once for all readers and closed with the exchange.
 * @throws UnreadableBody if the body is not XML or nests deeper than `maxDepth`.
 */
export function xmlOf(x: Exchange, body: Uint8Array, maxDepth: number = DEFAULT_DEPTH): XmlView {
  const { view, problem } = x.viewOf(attempt, body)
  if (problem !== null) throw problem
  if (view.shape.depth > maxDepth) throw unreadableXml(`has elements nested deeper than ${maxDepth}`)
  return view
}

/** Result of parsing a body. Errors are stored too, so that no policy parses an unreadable body again. */
type Attempt = BodyView &
  (
    | { readonly view: XmlView; readonly problem: null }
    | { readonly view: null; readonly problem: UnreadableBody }
  )

function attempt(body: Uint8Array): Attempt {
  try {
    const view = parseXml(body)
    return { view, problem: null, close: () => view.close() }
  } catch (problem) {
    if (!(problem instanceof UnreadableBody)) throw problem
    return { view: null, problem, close() {} }
  }
}
