import { readFileSync, writeFileSync } from 'node:fs'

/**
 * Writes the schemas with which object-schemas.mjs checks the objects of the chart and the manifests:
 * `node tools/kubernetes/make-schemas.mjs VERSION SWAGGER`, with api/openapi-spec/swagger.json of that version of Kubernetes.
 */
const KINDS = [
  'v1 Namespace',
  'v1 ServiceAccount',
  'v1 ConfigMap',
  'v1 Service',
  'rbac.authorization.k8s.io/v1 Role',
  'rbac.authorization.k8s.io/v1 RoleBinding',
  'networking.k8s.io/v1 NetworkPolicy',
  'apps/v1 Deployment',
  'policy/v1 PodDisruptionBudget',
  'autoscaling/v2 HorizontalPodAutoscaler',
]
const [version, swagger] = process.argv.slice(2)
const { definitions } = JSON.parse(readFileSync(swagger, 'utf8'))
const needed = new Map()
const kinds = Object.fromEntries(KINDS.map((kind) => [kind, definitionOf(kind)]))
const lasting = Object.fromEntries([...needed].sort(([a], [b]) => (a < b ? -1 : 1)))
const text = `${JSON.stringify({ kubernetes: version, kinds, definitions: lasting })}\n`
writeFileSync(new URL('schemas.json', import.meta.url), text)

/** Returns the name of a definition, for example of `apps/v1 Deployment`. */
function definitionOf(kind) {
  const [name] = Object.entries(definitions).find(([, definition]) => {
    const kinds = definition['x-kubernetes-group-version-kind'] ?? []
    return kinds.some(
      (one) => kind === `${one.group === '' ? '' : `${one.group}/`}${one.version} ${one.kind}`,
    )
  })
  take(name)
  return name
}

/** Adds a definition and everything it refers to. */
function take(name) {
  if (needed.has(name)) return
  needed.set(name, null)
  needed.set(
    name,
    name.endsWith('.resource.Quantity') ? { type: ['string', 'number'] } : strict(definitions[name]),
  )
}

/** Returns a schema that refuses unknown fields, without descriptions. */
function strict(schema) {
  const { description, format, properties, items, additionalProperties, $ref, ...rest } = schema
  const kept = Object.fromEntries(Object.entries(rest).filter(([key]) => !key.startsWith('x-')))
  if (format === 'int-or-string') kept.type = ['string', 'integer']
  if ($ref !== undefined) {
    take($ref.split('/').at(-1))
    kept.$ref = $ref
  }
  if (items !== undefined) kept.items = strict(items)
  if (additionalProperties !== undefined) kept.additionalProperties = strict(additionalProperties)
  if (properties === undefined) return kept
  kept.properties = Object.fromEntries(Object.entries(properties).map(([key, part]) => [key, strict(part)]))
  return { ...kept, additionalProperties: false }
}
