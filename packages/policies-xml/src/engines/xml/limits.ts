/** Limits for XML documents. */
export interface XmlLimits {
  readonly maxBytes: number
  /** Maximum nesting depth of elements, including the root element. */
  readonly maxDepth: number
  /** Maximum number of attributes and namespace declarations of one element. */
  readonly maxAttributes: number
  /**
   * Maximum number of elements, attributes, namespace declarations, comments, CDATA sections and processing
   * instructions.
   */
  readonly maxNodes: number
}

/**
 * Limits that apply to all policies. A node takes up to 150 bytes of memory, so no document takes more than 15 MB in
 * addition to its text. libxml2 itself stops at a depth of 256 and at texts of 10 MB.
 */
export const XML_LIMITS: XmlLimits = {
  maxBytes: 10 * 1024 * 1024,
  maxDepth: 250,
  maxAttributes: 256,
  maxNodes: 100_000,
}

/** Default maximum depth of a document. */
export const DEFAULT_DEPTH = 100
