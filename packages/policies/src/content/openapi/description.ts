import type { ValidateFunction } from 'ajv'
import { mistakesText } from '../../engines/json-schema/violation-words.js'
import { asNode, type Node } from './node.js'

/** HTTP methods of OpenAPI, in the order of the standard. */
export const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const

/** Validator of the library. It compiles the schema of each OpenAPI version once, which takes 0.3 s. */
let validator: { getAjvValidator(version: string): ValidateFunction } | null = null

/** Validates an OpenAPI description. @throws Error with the problem if it is invalid. */
export async function checkedDescription(value: unknown): Promise<Node> {
  const root = asNode(value)
  const version = root['openapi']
  if (typeof version !== 'string' || !/^3\.[01]\.\d/.test(version))
    throw new Error('the description is not OpenAPI 3.0 or 3.1: convert it first')
  const { Validator } = await import('@seriousme/openapi-schema-validator')
  // Uses only the schema of the standard. The library's `validate` mistakes `$id` and `$ref` in examples for
  // schema keywords.
  validator ??= new Validator() as unknown as NonNullable<typeof validator>
  const validate = validator.getAjvValidator(version.slice(0, 3))
  if (!validate(root))
    throw new Error(
      `the description is not valid OpenAPI ${version}: ${mistakesText(validate.errors ?? [], root)}`,
    )
  return root
}
