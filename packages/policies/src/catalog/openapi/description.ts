import type { ValidateFunction } from 'ajv'
import { asNode, type Node } from './node.js'

/** Violations of the standard that are reported. */
const MAX_REPORTED = 3

/** The methods that OpenAPI describes, in the order of its text. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** Validates an OpenAPI description. @throws Error with the problem if it is not valid. */
export async function checkedDescription(value: unknown): Promise<Node> {
  const root = asNode(value)
  const version = root['openapi']
  if (typeof version !== 'string' || !/^3\.[01]\.\d/.test(version)) {
    throw new Error('the description is not OpenAPI 3.0 or 3.1; convert it first')
  }
  const { Validator } = await import('@seriousme/openapi-schema-validator')
  // Only the standard's schema: `validate` of the library takes `$id` and `$ref` within examples for those of schemas.
  const validator = new Validator() as unknown as { getAjvValidator(version: string): ValidateFunction }
  const validate = validator.getAjvValidator(version.slice(0, 3))
  if (!validate(root))
    throw new Error(`the description is not valid OpenAPI ${version}: ${textOf(validate.errors)}`)
  return root
}

function textOf(errors: unknown): string {
  if (!Array.isArray(errors)) return String(errors)
  const lines = errors.map((error: { instancePath?: string; message?: string }) =>
    `${error.instancePath ?? ''} ${error.message ?? ''}`.trim(),
  )
  return [...new Set(lines)].slice(0, MAX_REPORTED).join('; ')
}
