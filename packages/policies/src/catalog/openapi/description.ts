import { type ValueSource, valueOfSource } from '../../shared/text-source.js'
import { asNode, type Node } from './node.js'

/** Violations of the standard that are reported. */
const MAX_REPORTED = 3

/** The methods that OpenAPI describes, in the order of its text. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/**
 * Reads an OpenAPI description and checks it against the standard.
 * @throws Error that says what is wrong with it.
 */
export async function readDescription(source: ValueSource): Promise<Node> {
  const value = valueOfSource(source)
  const root = asNode(value)
  const version = root['openapi']
  if (typeof version !== 'string' || !/^3\.[01]\.\d/.test(version)) {
    throw new Error('the description is not OpenAPI 3.0 or 3.1; convert it first')
  }
  const { Validator } = await import('@seriousme/openapi-schema-validator')
  const { valid, errors } = await new Validator().validate(structuredClone(root))
  if (!valid) throw new Error(`the description is not valid OpenAPI ${version}: ${textOf(errors)}`)
  return root
}

function textOf(errors: unknown): string {
  if (!Array.isArray(errors)) return String(errors)
  const lines = errors.map((error: { instancePath?: string; message?: string }) =>
    `${error.instancePath ?? ''} ${error.message ?? ''}`.trim(),
  )
  return [...new Set(lines)].slice(0, MAX_REPORTED).join('; ')
}
