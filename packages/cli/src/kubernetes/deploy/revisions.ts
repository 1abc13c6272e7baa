import { gunzipSync, gzipSync } from 'node:zlib'
import type { Cluster, LiveObject } from '../cluster/cluster.js'
import { type KubernetesObject, metadataOf, type ObjectIdentity } from '../objects/object.js'
import type { ObjectSettings } from '../objects/settings.js'

/** What was deployed once: enough to bring it back. */
export interface Revision {
  readonly number: number
  /** ISO 8601. */
  readonly at: string
  readonly note: string
  /** Of the document; null where no pod said it. */
  readonly digest: string | null
  /** Whether pods were replaced, or took the document while they ran. */
  readonly way: Way
  readonly settings: ObjectSettings
  readonly objects: readonly KubernetesObject[]
}

/** How a change comes to the pods. */
export type Way = 'reload' | 'rolling' | 'objects'

/** Older ones are removed. */
const KEPT = 10
const COMPONENT = 'app.kubernetes.io/component'
const MAX_REVISION_BYTES = 16 * 1024 * 1024

/** The revisions of a gateway that the cluster remembers, the newest first. */
export async function readRevisions(cluster: Cluster, identity: ObjectIdentity): Promise<Revision[]> {
  const labels = { ...metadataOf(identity).labels, [COMPONENT]: 'revision' }
  const found = await cluster.list('ConfigMap', identity.namespace, labels)
  return found
    .map(revisionOf)
    .filter((revision) => revision !== null)
    .sort((a, b) => b.number - a.number)
}

/** Writes down what is deployed now, and forgets what is too old. */
export async function saveRevision(
  cluster: Cluster,
  revision: Revision,
  before: readonly Revision[],
): Promise<void> {
  const { settings } = revision
  await cluster.apply(configMapOf(revision, settings), { isTrial: false, isForced: true })
  for (const old of before.slice(KEPT - 1)) await cluster.remove(configMapOf(old, settings))
}

function configMapOf(revision: Revision, identity: ObjectIdentity): KubernetesObject {
  const metadata = metadataOf(identity, `-revision-${revision.number}`)
  const content = gzipSync(JSON.stringify(revision)).toString('base64')
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, labels: { ...metadata.labels, [COMPONENT]: 'revision' } },
    binaryData: { 'revision.json.gz': content },
  }
}

/** Null: it is not one of ours, or not of this version. */
function revisionOf(live: LiveObject): Revision | null {
  const data = live['binaryData'] as Readonly<Record<string, string>> | undefined
  try {
    const packed = Buffer.from(data?.['revision.json.gz'] ?? '', 'base64')
    const revision = JSON.parse(
      gunzipSync(packed, { maxOutputLength: MAX_REVISION_BYTES }).toString(),
    ) as Revision
    return Number.isInteger(revision.number) && Array.isArray(revision.objects) ? revision : null
  } catch {
    return null
  }
}
