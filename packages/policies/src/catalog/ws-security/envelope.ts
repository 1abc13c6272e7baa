import { type XmlAttribute, type XmlDocument, type XmlElement, XmlXPath } from 'libxml2-wasm'
import { attributeIn, childElements, isElement } from './elements.js'
import { SecurityFault, type SoapVersion } from './fault.js'
import { NS, ULTIMATE_RECEIVER } from './names.js'

/** The parts of a SOAP message, found by their location and never by a search. */
export interface Envelope {
  readonly version: SoapVersion
  readonly root: XmlElement
  readonly header: XmlElement | null
  readonly body: XmlElement
}

/** The SOAP version of a document, by the name of its root; null when it is no SOAP. */
export function soapVersionOf({ root }: XmlDocument): SoapVersion | null {
  if (root.name !== 'Envelope') return null
  if (root.namespaceUri === NS.soap11) return '1.1'
  return root.namespaceUri === NS.soap12 ? '1.2' : null
}

/** Reads a message: an optional Header, then exactly one Body and nothing else. @throws SecurityFault when it is none */
export function readEnvelope(document: XmlDocument): Envelope {
  const version = soapVersionOf(document)
  if (version === null) throw new SecurityFault('InvalidSecurity', 'not a SOAP envelope')
  const { root } = document
  const soap = root.namespaceUri
  const children = childElements(root)
  const header = children.length > 0 && isElement(children[0]!, soap, 'Header') ? children.shift()! : null
  const [body] = children
  if (body === undefined || children.length > 1 || !isElement(body, soap, 'Body')) {
    throw new SecurityFault('InvalidSecurity', 'not a Header and one Body')
  }
  return { version, root, header, body }
}

/** The Security header for an actor ('' : for nobody in particular). @throws SecurityFault when there are several */
export function securityHeader({ version, header }: Envelope, actor: string): XmlElement | null {
  if (header === null) return null
  const ours = childElements(header).filter(
    (block) => isElement(block, NS.wsse, 'Security') && actorOf(block, version) === actor,
  )
  if (ours.length > 1) throw new SecurityFault('InvalidSecurity', 'two Security headers for one actor')
  return ours[0] ?? null
}

function actorOf(block: XmlElement, version: SoapVersion): string {
  const actor =
    version === '1.1' ? attributeIn(block, NS.soap11, 'actor') : attributeIn(block, NS.soap12, 'role')
  return actor === null || (version === '1.2' && actor === ULTIMATE_RECEIVER) ? '' : actor
}

/** An honest message has a handful. */
const MAX_IDS = 1000
/**
 * Steps without predicates: these cost six times as much on large documents. Each by itself: their union would look for
 * every id among all those of other names.
 */
const IDS = ['@wsu:Id', '@Id', '@ID', '@AssertionID', '@xml:id'].map((name) =>
  XmlXPath.compile(`/descendant::*/${name}`, { wsu: NS.wsu }),
)

/**
 * Refuses what a wrapping attack needs: two elements that a reader could find by one reference. No wsu:Id stands
 * twice anywhere, and no id that the security header refers to stands twice under any of the names that readers know.
 * An application's own attributes of these names may repeat as long as nobody refers to them.
 */
export function assertUniqueIds(document: XmlDocument, referred: ReadonlySet<string>): void {
  const seen = new Set<string>()
  for (const node of IDS.flatMap((path) => document.find(path))) {
    const attr = node as XmlAttribute
    const id = attr.value
    if (!referred.has(id) && attr.namespaceUri !== NS.wsu) continue
    if (seen.has(id) || seen.size === MAX_IDS)
      throw new SecurityFault('InvalidSecurity', 'an id stands twice')
    seen.add(id)
  }
}

const REFERENCES = XmlXPath.compile('descendant::*/@URI')

/** The ids that a Security header refers to. */
export function referredIds(security: XmlElement): ReadonlySet<string> {
  const uris = security.find(REFERENCES)
  if (uris.length > MAX_IDS) throw new SecurityFault('InvalidSecurity', 'too many references')
  return new Set(uris.map((attr) => attr.content.slice(1)))
}
