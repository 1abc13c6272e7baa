import { type XmlAttribute, type XmlDocument, type XmlElement, XmlXPath } from 'libxml2-wasm'
import { attributeIn, childElements, isElement } from './elements.js'
import { SecurityFault, type SoapVersion } from './fault.js'
import { NS, ULTIMATE_RECEIVER } from './names.js'

/** The parts of a SOAP message, found by their location, never by a search. */
export interface Envelope {
  readonly version: SoapVersion
  readonly root: XmlElement
  readonly header: XmlElement | null
  readonly body: XmlElement
}

/** Returns the SOAP version of a document by its root element, or null if it is not SOAP. */
export function soapVersionOf({ root }: XmlDocument): SoapVersion | null {
  if (root.name !== 'Envelope') return null
  if (root.namespaceUri === NS.soap11) return '1.1'
  return root.namespaceUri === NS.soap12 ? '1.2' : null
}

/**
 * Reads a message: an optional Header, then exactly one Body.
 * @throws SecurityFault for any other structure
 */
export function readEnvelope(document: XmlDocument): Envelope {
  const version = soapVersionOf(document)
  if (version === null) throw new SecurityFault('InvalidSecurity', 'not a SOAP envelope')
  const { root } = document
  const soap = root.namespaceUri
  const children = childElements(root)
  const header = children.length > 0 && isElement(children[0]!, soap, 'Header') ? children.shift()! : null
  const [body] = children
  if (body === undefined || children.length > 1 || !isElement(body, soap, 'Body'))
    throw new SecurityFault('InvalidSecurity', 'the envelope needs exactly one Body after an optional Header')
  return { version, root, header, body }
}

/** Returns the Security header for an actor; '' means no actor. @throws SecurityFault for several */
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

/** Maximum number of ids. Ordinary messages have only a few. */
const MAX_IDS = 1000
/**
 * Paths without predicates, which would be six times slower on large documents. They are separate, because a
 * union would take quadratic time.
 */
const IDS = ['@wsu:Id', '@Id', '@ID', '@AssertionID', '@xml:id'].map((name) =>
  XmlXPath.compile(`/descendant::*/${name}`, { wsu: NS.wsu }),
)

/**
 * Prevents wrapping attacks, which need two elements with the same id. Each wsu:Id must be unique, and each
 * id that the Security header refers to must be unique under all id attributes. Other attributes of the
 * application with these names may repeat.
 */
export function assertUniqueIds(document: XmlDocument, referred: ReadonlySet<string>): void {
  const seen = new Set<string>()
  for (const node of IDS.flatMap((path) => document.find(path))) {
    const attr = node as XmlAttribute
    const id = attr.value
    if (!referred.has(id) && attr.namespaceUri !== NS.wsu) continue
    if (seen.has(id) || seen.size === MAX_IDS) throw new SecurityFault('InvalidSecurity', 'duplicate id')
    seen.add(id)
  }
}

const REFERENCES = XmlXPath.compile('descendant::*/@URI')

/** Returns the ids that a Security header refers to. */
export function referredIds(security: XmlElement): ReadonlySet<string> {
  const uris = security.find(REFERENCES)
  if (uris.length > MAX_IDS) throw new SecurityFault('InvalidSecurity', 'too many references')
  return new Set(uris.map((attr) => attr.content.slice(1)))
}
