import type { Tier } from '@sluice/gateway'
import type { Cluster, LiveObject } from '../cluster/cluster.js'
import { type KubernetesObject, metadataOf, type ObjectIdentity } from '../objects/object.js'
import { DOCUMENT_KEY } from '../objects/workload.js'
import { refuseForeign } from './object-changes.js'

/** What pods are made of, as the command line says it. */
export interface PodSettings {
  readonly tier: Tier
  /** The least, where there is an autoscaler. */
  readonly replicas: number
  readonly image: string
  /** The Secret with the values of references. */
  readonly secret?: string
  /** Absent: no autoscaler. */
  readonly maxReplicas?: number
  /** See ObjectSettings. */
  readonly replacedFor?: string
}

/** What was deployed once: enough to bring it back. */
export interface Revision {
  readonly number: number
  /** ISO 8601. */
  readonly at: string
  readonly note: string
  /** Of what the pods served; null where none of them said it. */
  readonly digest: string | null
  readonly way: Way
  /** The document. */
  readonly text: string
  readonly settings: PodSettings
}

/** How a change comes to the pods: they reload the document, they are replaced, or neither. */
export type Way = 'reload' | 'rolling' | 'objects'

/** Older ones are removed. */
const KEPT = 10
const COMPONENT = 'app.kubernetes.io/component'
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' }
const FACTS_KEY = 'revision.json'
/** The ConfigMap has room for the document and this. */
const MAX_NOTE_CHARS = 500

/** The revisions of a gateway that the cluster remembers, the newest first. */
export async function readRevisions(cluster: Cluster, identity: ObjectIdentity): Promise<Revision[]> {
  const labels = { ...metadataOf(identity).labels, [COMPONENT]: 'revision' }
  const found = await cluster.list(CONFIG_MAP, identity.namespace, labels)
  return found
    .map((live) => revisionOf(live, identity))
    .filter((revision) => revision !== null)
    .sort((a, b) => b.number - a.number)
}

export function nextNumber(revisions: readonly Revision[]): number {
  return (revisions[0]?.number ?? 0) + 1
}

/** Another gateway may be called like the next revision of this one. @throws Failure when it is. */
export async function checkNextRevision(
  cluster: Cluster,
  identity: ObjectIdentity,
  revisions: readonly Revision[],
): Promise<void> {
  const object = { ...CONFIG_MAP, metadata: metadataOf(identity, `-revision-${nextNumber(revisions)}`) }
  const live = await cluster.read(object)
  if (live !== null) refuseForeign(object, live)
}

/** Writes down what is deployed now, and forgets what is too old. */
export async function saveRevision(
  cluster: Cluster,
  identity: ObjectIdentity,
  { revision, before }: { readonly revision: Revision; readonly before: readonly Revision[] },
): Promise<void> {
  await cluster.apply(configMapOf(revision, identity), { isTrial: false, isForced: true })
  for (const old of before.slice(KEPT - 1)) {
    const live = await cluster.read(configMapOf(old, identity))
    if (live !== null) await cluster.remove(live)
  }
}

function configMapOf({ text, note, ...facts }: Revision, identity: ObjectIdentity): KubernetesObject {
  const metadata = metadataOf(identity, `-revision-${facts.number}`)
  return {
    ...CONFIG_MAP,
    metadata: { ...metadata, labels: { ...metadata.labels, [COMPONENT]: 'revision' } },
    data: {
      [DOCUMENT_KEY]: text,
      [FACTS_KEY]: JSON.stringify({ ...facts, note: note.slice(0, MAX_NOTE_CHARS) }),
    },
  }
}

/** Others may write ConfigMaps, too: nothing is taken of one but what is named here. Null: it is no revision. */
function revisionOf(live: LiveObject, identity: ObjectIdentity): Revision | null {
  const { [DOCUMENT_KEY]: text, [FACTS_KEY]: facts = '' } = (live['data'] ?? {}) as Readonly<
    Record<string, string>
  >
  try {
    const { number, at, note, digest, way, settings } = JSON.parse(facts) as Omit<Revision, 'text'>
    const { tier, replicas, image, secret, maxReplicas, replacedFor } = settings
    const isWhole = [number, replicas, maxReplicas ?? 1].every((one) => Number.isInteger(one) && one > 0)
    const texts = [text, at, note, digest ?? '', way, tier, image, secret ?? '', replacedFor ?? '']
    if (live.metadata.name !== metadataOf(identity, `-revision-${number}`).name) return null
    if (text === undefined || !isWhole || texts.some((one) => typeof one !== 'string')) return null
    return {
      ...{ number, at, note, digest, way, text },
      settings: {
        ...{ tier, replicas, image },
        ...(secret === undefined ? {} : { secret }),
        ...(maxReplicas === undefined ? {} : { maxReplicas }),
        ...(replacedFor === undefined ? {} : { replacedFor }),
      },
    }
  } catch {
    return null
  }
}
