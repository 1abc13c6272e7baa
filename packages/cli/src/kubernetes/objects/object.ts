/** A Kubernetes object as `kubectl apply` takes it: pure JSON. */
export interface KubernetesObject {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: ObjectMeta
  readonly [member: string]: unknown
}

/** What every object says of itself. */
export interface ObjectMeta {
  readonly name: string
  readonly namespace: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
}

/** What the objects of one gateway have in common. */
export interface ObjectIdentity {
  readonly name: string
  readonly namespace: string
  /** Who writes the objects, such as `gw` or `Helm`. */
  readonly managedBy: string
  /** Further labels of all objects. */
  readonly labels?: Readonly<Record<string, string>>
}

/** The labels that pods are chosen by; they never change. */
export function selectorLabels({ name }: ObjectIdentity): Readonly<Record<string, string>> {
  return { 'app.kubernetes.io/name': 'sluice', 'app.kubernetes.io/instance': name }
}

/** The labels of an object. */
function labelsOf(identity: ObjectIdentity): Readonly<Record<string, string>> {
  return {
    ...identity.labels,
    ...selectorLabels(identity),
    'app.kubernetes.io/managed-by': identity.managedBy,
  }
}

/** @param suffix of the name, for a further object of the same kind. */
export function metadataOf(identity: ObjectIdentity, suffix = ''): ObjectMeta {
  return { name: identity.name + suffix, namespace: identity.namespace, labels: labelsOf(identity) }
}

/** A mapping without the members that are undefined or empty lists, which Kubernetes would not keep. */
export function present<T extends object>(mapping: T): T {
  const members = Object.entries(mapping).filter(([, value]) => {
    return value !== undefined && !(Array.isArray(value) && value.length === 0)
  })
  return Object.fromEntries(members) as T
}
