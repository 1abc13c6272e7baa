import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'

/** Made by make-schemas.mjs of what Kubernetes says of itself. */
const { kinds, definitions } = JSON.parse(readFileSync(new URL('schemas.json', import.meta.url), 'utf8'))
const ajv = new Ajv({ strict: false, allErrors: true })
const validators = new Map()

/**
 * What the API server would find wrong with an object: fields that do not exist, values of another type, what is missing.
 * Kinds of the Prometheus operator are not part of Kubernetes; of them nothing is found.
 */
export function objectMistakes(object) {
  const { apiVersion, kind, metadata } = object
  if (apiVersion.startsWith('monitoring.coreos.com/')) return []
  const validate = validatorOf(`${apiVersion} ${kind}`)
  if (validate === null) return [`${apiVersion} ${kind} has no schema here`]
  if (validate(object)) return []
  return validate.errors.map((error) => {
    const field = error.params.additionalProperty ?? ''
    return `${kind} ${metadata?.name}${error.instancePath} ${error.message} ${field}`.trim()
  })
}

function validatorOf(kind) {
  if (!Object.hasOwn(kinds, kind)) return null
  const known = validators.get(kind)
  if (known !== undefined) return known
  const validate = ajv.compile({ definitions, $ref: `#/definitions/${kinds[kind]}` })
  validators.set(kind, validate)
  return validate
}
