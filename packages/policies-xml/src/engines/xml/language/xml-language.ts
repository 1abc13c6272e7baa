import { type BodyReader, type Exchange, UnreadableBody } from '@sluice/core'
import { claimedKindError } from '@sluice/policies/engines/claimed-kind'
import { isLibxmlLoaded, loadLibxml } from '../libxml.js'
import { xmlCodingIssue } from '../media-type.js'
import type { XmlView } from '../view.js'
import { xmlOf } from '../xml-of.js'
import { compileValue } from '../xpath.js'
import { compileStreamingXPath } from './streaming-xpath.js'

/** Body language for conditions: XPath 1.0 on XML bodies. `nodeLimitOf` limits its cost. */
export const xmlLanguage = {
  async load(): Promise<void> {
    await loadLibxml()
  },
  get isLoaded(): boolean {
    return isLibxmlLoaded()
  },
  compile(path: string, names: Readonly<Record<string, string>>): BodyReader {
    const read = compileValue(path, names)
    return (x) => (x.body === null || x.body.length === 0 ? null : read(documentOf(x, x.body)))
  },
  compileStreaming: compileStreamingXPath,
}

function documentOf(x: Exchange, body: Uint8Array): XmlView {
  try {
    const issue = xmlCodingIssue(x.headers)
    if (issue !== null) throw new UnreadableBody('GW_MEDIA_TYPE', `the body ${issue}`)
    return xmlOf(x, body)
  } catch (error) {
    if (!(error instanceof UnreadableBody)) throw error
    throw claimedKindError('xml', error, { headers: x.headers, body })
  }
}
