import type { BodyReader, Exchange } from '@sluice/core'
import { isLibxmlLoaded, loadLibxml } from './libxml.js'
import { xmlCodingFlaw } from './media-type.js'
import { compileStreamingXPath } from './streaming-xpath/streaming-xpath.js'
import { unreadableXml } from './unreadable-xml.js'
import type { XmlView } from './view.js'
import { xmlOf } from './xml-of.js'
import { compileValue } from './xpath.js'

/** XPath 1.0 on XML bodies (a BodyLanguage), for conditions; what it may cost is bounded at `nodeLimitOf`. */
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
  const flaw = xmlCodingFlaw(x.headers)
  if (flaw !== null) throw unreadableXml(flaw)
  return xmlOf(x, body)
}
