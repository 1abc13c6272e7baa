import { rolledBackContents } from '@sluice/core'
import type { Tier } from '@sluice/gateway'
import type { Cluster, LiveObject } from '../cluster/cluster.js'
import { type KubernetesObject, metadataOf, type ObjectIdentity } from '../objects/object.js'
import { DOCUMENT_KEY } from '../objects/workload.js'
import { refuseForeign } from './object-changes.js'

/** Pod settings of the command line. */
export interface PodSettings {
  readonly tier: Tier
  /** Number of pods, or the minimum with an autoscaler. */
  readonly replicas: number
  readonly image: string
  /** Name of the Secret with the values of `${env:NAME}` and `${file:PATH}`. */
  readonly secret?: string
  /** Maximum number of pods; absent without an autoscaler. */
  readonly maxReplicas?: number
  /** See `ObjectSettings`. */
  readonly replacedFor?: string
}

/** A past deployment, with the data needed to restore it. */
export interface Revision {
  readonly number: number
  /** Time of the deployment, ISO 8601. */
  readonly at: string
  readonly note: string
  /** Digest of the document that the pods served, or null if unknown. */
  readonly digest: string | null
  readonly way: Way
  readonly text: string
  readonly settings: PodSettings
  /** Number of the revision that was deployed again; absent unless this is a rollback. */
  readonly rollbackTo?: number
}

/** Deployment method: pods reload the document, pods are replaced, or only other objects change. */
export type Way = 'reload' | 'rolling' | 'objects'

/** Number of revisions that are kept. */
const MAX_REVISIONS = 10
const COMPONENT = 'app.kubernetes.io/component'
const CONFIG_MAP = { apiVersion: 'v1', kind: 'ConfigMap' }
const FACTS_KEY = 'revision.json'
/** Maximum length of a note, so that document and note fit into a ConfigMap. */
const MAX_NOTE_CHARS = 500

/** Returns the stored revisions of a gateway, newest first. */
export async function readRevisions(cluster: Cluster, identity: ObjectIdentity): Promise<Revision[]> {
  const labels = { ...metadataOf(identity).labels, [COMPONENT]: 'revision' }
  const found = await cluster.list(CONFIG_MAP, identity.namespace, labels)
  return found
    .map((live) => revisionOf(live, identity))
    .filter((revision) => revision !== null)
    .sort((a, b) => b.number - a.number)
}

/** Returns the contents of the revisions that were rolled back, as `contentOf` returns them. */
export function rolledBackRevisions(revisions: readonly Revision[]): ReadonlySet<string> {
  const past = revisions.map((one) => ({
    content: contentOf(one),
    isRollback: one.rollbackTo !== undefined,
  }))
  return rolledBackContents(past.reverse())
}

/** Returns a text that is the same for revisions with the same document and settings. */
export function contentOf({ text, settings }: Revision): string {
  const { replacedFor: _, ...others } = settings
  return JSON.stringify([text, Object.entries(others).sort()])
}

/** Returns the number of the next revision. */
export function nextNumber(revisions: readonly Revision[]): number {
  return (revisions[0]?.number ?? 0) + 1
}

/** Checks that the name of the next revision is free. @throws Failure if an object of another gateway has it */
export async function checkNextRevision(
  cluster: Cluster,
  identity: ObjectIdentity,
  revisions: readonly Revision[],
): Promise<void> {
  const object = { ...CONFIG_MAP, metadata: metadataOf(identity, `-revision-${nextNumber(revisions)}`) }
  const live = await cluster.read(object)
  if (live !== null) refuseForeign(object, live)
}

/** Stores a revision and deletes the oldest ones. */
export async function saveRevision(
  cluster: Cluster,
  identity: ObjectIdentity,
  { revision, before }: { readonly revision: Revision; readonly before: readonly Revision[] },
): Promise<void> {
  await cluster.apply(configMapOf(revision, identity), { isTrial: false, isForced: true })
  for (const old of before.slice(MAX_REVISIONS - 1)) {
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

/** Parses a revision, or returns null. Anyone may write ConfigMaps, so only known fields are read. */
function revisionOf(live: LiveObject, identity: ObjectIdentity): Revision | null {
  const { [DOCUMENT_KEY]: text, [FACTS_KEY]: facts = '' } = (live['data'] ?? {}) as Readonly<
    Record<string, string>
  >
  try {
    const { number, at, note, digest, way, settings, rollbackTo } = JSON.parse(facts) as Omit<
      Revision,
      'text'
    >
    const { tier, replicas, image, secret, maxReplicas, replacedFor } = settings
    const isWhole = [number, replicas, maxReplicas ?? 1, rollbackTo ?? 1].every(
      (one) => Number.isInteger(one) && one > 0,
    )
    const texts = [text, at, note, digest ?? '', way, tier, image, secret ?? '', replacedFor ?? '']
    if (live.metadata.name !== metadataOf(identity, `-revision-${number}`).name) return null
    if (text === undefined || !isWhole || texts.some((one) => typeof one !== 'string')) return null
    return {
      ...{ number, at, note, digest, way, text },
      ...(rollbackTo === undefined ? {} : { rollbackTo }),
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
