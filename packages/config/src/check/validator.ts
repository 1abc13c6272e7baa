import type { TSchema } from '@sinclair/typebox'
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import { addKeywords } from './keywords.js'
import { reduceSchema } from './reduced-schema.js'

const compiled = new WeakMap<TSchema, ValidateFunction>()
/** The most recent reduced validator of each schema. */
const parts = new WeakMap<TSchema, { readonly shape: string; readonly validate: ValidateFunction }>()

/** Returns all errors of a value; empty if it satisfies the schema. */
export function schemaErrors(schema: TSchema, value: unknown): readonly ErrorObject[] {
  const validate = validatorOf(schema)
  return validate(value) ? [] : (validate.errors ?? [])
}

/**
 * Tests a value against a large schema of which it uses few keys. Compiling the whole document schema takes a
 * tenth of the start time.
 */
export function satisfiesLarge(schema: TSchema, value: unknown): boolean {
  const whole = compiled.get(schema)
  if (whole !== undefined) return whole(value)
  const part = reduceSchema(schema, value)
  const known = parts.get(schema)
  const validate = known?.shape === part.shape ? known.validate : compile(part.schema, false)
  parts.set(schema, { shape: part.shape, validate })
  return validate(value)
}

/**
 * Returns the compiled validator of a schema. Each schema has its own Ajv instance, because schemas of
 * policies may share an `$id`.
 */
function validatorOf(schema: TSchema): ValidateFunction {
  const known = compiled.get(schema)
  if (known !== undefined) return known
  const validate = compile(schema, true)
  compiled.set(schema, validate)
  return validate
}

function compile(schema: TSchema, allErrors: boolean): ValidateFunction {
  const ajv = new Ajv({
    allErrors,
    verbose: true,
    strict: false,
    validateFormats: false,
    validateSchema: false,
    meta: false,
    logger: false,
    // Measured at the first load: 225 ms with the optimizer, 80 ms without. Validation is not noticeably
    // slower.
    code: { optimize: false },
  })
  addKeywords(ajv)
  return ajv.compile(schema)
}
