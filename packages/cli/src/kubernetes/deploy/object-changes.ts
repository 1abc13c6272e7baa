import { isDeepStrictEqual } from 'node:util'
import { Failure } from '../../output/failure.js'
import type { ApplyOptions, Cluster, LiveObject } from '../cluster/cluster.js'
import { FIELD_MANAGER, nameOf } from '../cluster/cluster.js'
import type { KubernetesObject } from '../objects/object.js'

/** Planned change of one object. */
export interface ObjectChange {
  readonly kind: 'add' | 'change' | 'remove' | 'none'
  readonly object: KubernetesObject
  /** Current object, or null if it does not exist. */
  readonly live: LiveObject | null
  /** Resulting object, or null if it is deleted. */
  readonly next: LiveObject | null
  /** Changed fields, for example `spec.replicas`. */
  readonly paths: readonly string[]
}

/** Planned deletion of an object. */
export interface Removal extends ObjectChange {
  readonly live: LiveObject
}

const MANAGED_BY = 'app.kubernetes.io/managed-by'
const INSTANCE = 'app.kubernetes.io/instance'
/** Metadata fields that the API server maintains. */
const SERVER_FIELDS = new Set(['creationTimestamp', 'generation', 'managedFields', 'resourceVersion', 'uid'])
const REPLICAS = 'spec.replicas'
/** Maximum number of paths that are listed per object. */
const MAX_PATHS = 8

interface ChangeOptions {
  readonly isForced: boolean
  /** True if the command line sets the number of pods. Otherwise a Deployment keeps its current number. */
  readonly setsReplicas: boolean
}

/**
 * Returns the changes to the cluster's objects. The API server computes them in a dry run, with its defaults, validation
 * and admission. @throws Failure if it rejects an object, or an object belongs to someone else
 */
export async function objectChanges(
  cluster: Cluster,
  objects: readonly KubernetesObject[],
  { isForced, setsReplicas }: ChangeOptions,
): Promise<ObjectChange[]> {
  const options: ApplyOptions = { isTrial: true, isForced }
  const changes: ObjectChange[] = []
  for (const made of objects) {
    const live = await cluster.read(made)
    if (live !== null && !isForced) refuseForeign(made, live)
    const object = live === null || setsReplicas ? made : withoutReplicas(made)
    const next = await cluster.apply(live === null ? object : withoutReplicas(object), options)
    const changed = live === null ? [] : differences(comparablePart(live), comparablePart(next), '')
    const paths = object.kind === 'Deployment' ? changed.filter((path) => path !== REPLICAS) : changed
    const replicas = replicasOf(object)
    if (live !== null && replicas !== undefined && replicas !== replicasOf(live)) paths.push(REPLICAS)
    const kind = live === null ? 'add' : paths.length === 0 ? 'none' : 'change'
    changes.push({ kind, object, live, next, paths })
  }
  return changes
}

/** Returns the deletions of those objects that exist and belong to this gateway. */
export async function removals(cluster: Cluster, objects: readonly KubernetesObject[]): Promise<Removal[]> {
  const changes: Removal[] = []
  for (const object of objects) {
    const live = await cluster.read(object)
    if (live !== null && isSameOwner(object, live))
      changes.push({ kind: 'remove', object, live, next: null, paths: [] })
  }
  return changes
}

/** Returns the number of pods that a Deployment asks for, or undefined. */
export function replicasOf({ kind, spec }: KubernetesObject): unknown {
  return kind === 'Deployment' && isMapping(spec) ? spec['replicas'] : undefined
}

/** Returns a Deployment without its number of pods. Other objects are returned unchanged. */
export function withoutReplicas(object: KubernetesObject): KubernetesObject {
  if (replicasOf(object) === undefined) return object
  const { replicas: _, ...spec } = object['spec'] as Readonly<Record<string, unknown>>
  return { ...object, spec }
}

/** True if another field manager also owns the number of pods, so that it remains when gw stops setting it. */
export function hasOtherScaler({ metadata }: LiveObject): boolean {
  const { managedFields = [] } = metadata
  return managedFields.some(
    ({ manager, fieldsV1 }) =>
      manager !== FIELD_MANAGER && fieldsV1?.['f:spec']?.['f:replicas'] !== undefined,
  )
}

/** Checks the owner of an existing object. @throws Failure if it belongs to another tool or gateway */
export function refuseForeign(object: KubernetesObject, live: LiveObject): void {
  if (isSameOwner(object, live)) return
  const { [MANAGED_BY]: owner, [INSTANCE]: gateway } = live.metadata.labels ?? {}
  const isOther = owner === object.metadata.labels[MANAGED_BY] && gateway !== undefined
  const whose =
    owner === undefined ? 'was not made by gw' : `belongs to ${isOther ? `the gateway ${gateway}` : owner}`
  const text = `${nameOf(object)} in ${object.metadata.namespace} ${whose}; choose another --name, or take it over with --force`
  throw new Failure(text)
}

function isSameOwner({ metadata: { labels } }: KubernetesObject, live: LiveObject): boolean {
  return [MANAGED_BY, INSTANCE].every((label) => live.metadata.labels?.[label] === labels[label])
}

function comparablePart({ metadata, status: _, ...rest }: LiveObject): object {
  const kept = Object.entries(metadata).filter(([name]) => !SERVER_FIELDS.has(name))
  return { ...rest, metadata: Object.fromEntries(kept) }
}

function differences(a: unknown, b: unknown, path: string): string[] {
  if (isDeepStrictEqual(a, b)) return []
  if (!isMapping(a) || !isMapping(b)) return [path]
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])].sort()
  return keys.flatMap((key) => differences(a[key], b[key], path === '' ? key : `${path}.${key}`))
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns one line per object, for example `~ Deployment/sluice in edge  spec.replicas`. */
export function changeLines(changes: readonly ObjectChange[]): string[] {
  const sign = { add: '+', change: '~', remove: '-', none: ' ' }
  return changes.map(({ kind, object, paths }) => {
    const more = paths.length > MAX_PATHS ? ` and ${paths.length - MAX_PATHS} more` : ''
    const what = paths.length === 0 ? '' : `  ${paths.slice(0, MAX_PATHS).join(', ')}${more}`
    return `${sign[kind]} ${nameOf(object)} in ${object.metadata.namespace}${what}`
  })
}
