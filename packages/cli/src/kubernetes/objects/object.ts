import { stringify } from 'yaml'

/** A Kubernetes object in the JSON format of `kubectl apply`. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [member: string]: unknown
}

/** Metadata of an object. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** Metadata that all objects of a gateway share. */
export interface ObjectIdentity {
  readonly name: string
  readonly namespace: string
  /** Tool that manages the objects, such as `gw` or `Helm`. */
  readonly managedBy: string
  /** Additional labels of all objects. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Returns the labels of pod selectors. They are immutable. */
export function selectorLabels({ name }: ObjectIdentity): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': 'sluice', 'app.kubernetes.io/instance': name }
}

/** Returns the labels of an object. */
function labelsOf(identity: ObjectIdentity): Readonly<Record<string, string>> {
  return {
    ...identity.labels,
    ...selectorLabels(identity),
    'app.kubernetes.io/managed-by': identity.managedBy,
  }
}

/** Returns the metadata of an object. @param suffix name suffix for additional objects of the same kind */
export function metadataOf(identity: ObjectIdentity, suffix = ''): ObjectMeta {
  return { name: identity.name + suffix, namespace: identity.namespace, labels: labelsOf(identity) }
}

/** Removes undefined values and empty lists, which Kubernetes would drop. */
export function present<T extends object>(mapping: T): T {
  const members = Object.entries(mapping).filter(
    ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
  )
  return Object.fromEntries(members) as T
}

/** Characters that some YAML parsers treat as line breaks. Text after them could become fields of the object. */
const OTHER_LINE_ENDS = /[\u0085\u2028\u2029]/g

/** Returns the objects as YAML for `kubectl apply -f`. The gateway document is a literal block. */
export function objectsYaml(objects: readonly KubernetesObject[]): string {
  return objects.map(plainYaml).join('---\n')
}

/** Returns a value as YAML that all parsers read alike. Texts with several lines are literal blocks. */
export function plainYaml(value: object): string {
  const json = JSON.stringify(value, null, 2)
  // JSON is valid YAML and can escape these characters.
  if (json.search(OTHER_LINE_ENDS) >= 0) return `${json.replace(OTHER_LINE_ENDS, escapeOf)}\n`
  return stringify(value, { lineWidth: 0, blockQuote: 'literal', aliasDuplicateObjects: false })
}

function escapeOf(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
