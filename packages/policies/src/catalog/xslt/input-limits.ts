import { DEFAULT_DEPTH, XML_LIMITS, type XmlLimits } from '../../engines/xml/limits.js'

/**
 * What a document may be that is transformed. Templates call each other once for each level, on a stack that has room
 * for about twice as many levels as this in libxslt.
 */
export const INPUT_LIMITS: XmlLimits = { ...XML_LIMITS, maxDepth: DEFAULT_DEPTH }
