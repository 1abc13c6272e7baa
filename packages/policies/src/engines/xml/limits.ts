/** What an XML document may be, whatever a policy allows. */
export interface XmlLimits {
  readonly maxBytes: number
  /** Elements inside one another, the root element included. */
  readonly maxDepth: number
  /** Attributes and namespace declarations of one element. */
  readonly maxAttributes: number
  /** Elements, attributes, namespace declarations, comments, CDATA sections and processing instructions. */
  readonly maxNodes: number
}

/**
 * The limits of the gate. A node takes up to 150 bytes of memory, so that no document takes more than 15 MB beside its
 * text; libxml2 itself stops at a depth of 256 and at texts of 10 MB.
 */
export const XML_LIMITS: XmlLimits = {
  maxBytes: 10 * 1024 * 1024,
  maxDepth: 250,
  maxAttributes: 256,
  maxNodes: 100_000,
}

/** How deep a document may be where nobody says otherwise. */
export const DEFAULT_DEPTH = 100
