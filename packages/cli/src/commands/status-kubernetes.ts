import { visibleText } from '@sluice/core'
import type { Cluster } from '../kubernetes/cluster/cluster.js'
import { adminEndpoint, type GatewayPod, gatewayPods, memberOf } from '../kubernetes/cluster/pods.js'
import { readRevisions } from '../kubernetes/deploy/revisions.js'
import type { FleetMember } from '../kubernetes/fleet/fleet-change.js'
import { metadataOf, type ObjectIdentity } from '../kubernetes/objects/object.js'
import { Failure, messageOf } from '../output/failure.js'
import { isTable, print, printResult, printTable, printValue } from '../output/output.js'
import { kept, minor } from '../output/table.js'
import { ageText, countText, shortDigest } from '../output/text.js'
import { type KubernetesOptions, withCluster } from './kubernetes-options.js'
import { repeated } from './status.js'

const POD_HEADINGS = [
  'POD',
  'STATE',
  'CONFIG',
  minor('FROM', 2),
  'IN FLIGHT',
  'RESTARTS',
  minor('NODE', 1),
  'PROBLEM',
]
const REVISION_HEADINGS = ['REVISION', 'AGE', 'CONFIG', minor('WAY', 1), kept('IMAGE'), 'PODS', 'NOTE']

/** Status of a pod, with the response of its admin API. */
interface PodFacts {
  readonly pod: GatewayPod
  readonly digest: string | null
  readonly origin: string | null
  readonly inFlight: number | null
  readonly problem: string | null
}

/** Prints the pods of a gateway and the document of each one. */
export async function statusKubernetes(
  options: KubernetesOptions & { readonly watch?: boolean },
): Promise<void> {
  return withCluster(options, (cluster, identity) =>
    repeated(options, () => printPods(cluster, identity, options)),
  )
}

async function printPods(
  cluster: Cluster,
  identity: ObjectIdentity,
  options: KubernetesOptions,
): Promise<void> {
  const facts = await Promise.all((await podMembers(cluster, identity, options)).map(factsOf))
  const [last] = await readRevisions(cluster, identity)
  const isAlike = new Set(facts.flatMap(({ digest }) => digest ?? [])).size <= 1
  if (!isTable(options.output)) {
    const pods = facts.map(({ pod, ...rest }) => ({ ...pod, ...rest }))
    return printValue({ alike: isAlike, revision: last?.number ?? null, pods }, options.output)
  }
  const where = `gateway ${identity.name} in ${identity.namespace}`
  const ready = facts.filter(({ pod }) => pod.isReady).length
  print(`${where}: ${ready} of ${countText(facts.length, 'pod')} ready, revision ${last?.number ?? '-'}`)
  if (!isAlike) print('the pods do not serve the same document')
  print('')
  printTable(POD_HEADINGS, facts.map(rowOf), options.output)
}

/** Returns the pods of a gateway and their admin APIs. @throws Failure if there is no such gateway */
export async function podMembers(
  cluster: Cluster,
  identity: ObjectIdentity,
  options: KubernetesOptions,
): Promise<{ readonly pod: GatewayPod; readonly member: FleetMember }[]> {
  const live = await cluster.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata: metadataOf(identity) })
  const { name, namespace } = identity
  if (live === null) throw new Failure(`gateway '${name}' not found in namespace ${namespace}`)
  const endpoint = adminEndpoint(live)
  const pods = await gatewayPods(cluster, identity)
  return pods.map((pod) => ({ pod, member: memberOf(cluster, pod, endpoint, options) }))
}

async function factsOf({ pod, member }: { pod: GatewayPod; member: FleetMember }): Promise<PodFacts> {
  const nothing = { pod, digest: null, origin: null, inFlight: null }
  if (!pod.isRunning) return { ...nothing, problem: pod.problem }
  try {
    const { part } = await member.client.get('/v1/status')
    return {
      pod,
      digest: part.textOrNull('digest'),
      origin: part.textOrNull('origin'),
      inFlight: part.parts('workers').reduce((sum, worker) => sum + worker.number('inFlight'), 0),
      problem: pod.problem ?? part.textOrNull('reason'),
    }
  } catch (error) {
    return { ...nothing, problem: pod.problem ?? messageOf(error) }
  }
}

function rowOf({ pod, digest, origin, inFlight, problem }: PodFacts): (string | number)[] {
  const state = pod.isEnding ? 'ending' : pod.isReady ? 'ready' : 'not ready'
  const text = visibleText(problem ?? '')
  return [pod.name, state, shortDigest(digest), origin ?? '-', inFlight ?? '-', pod.restarts, pod.node, text]
}

/** Prints the stored revisions of a gateway. */
export async function historyKubernetes(options: KubernetesOptions): Promise<void> {
  return withCluster(options, async (cluster, identity) => {
    const revisions = await readRevisions(cluster, identity)
    const shown = revisions.map(({ text: _, settings: { image, tier, replicas }, ...rest }) => ({
      ...rest,
      image,
      tier,
      replicas,
    }))
    const rows = revisions.map(({ number, at, note, digest, way, settings }) => {
      const age = ageText(Date.now() - Date.parse(at))
      const pods = `${settings.replicas} ${settings.tier}`
      return [number, age, ...[shortDigest(digest), way, settings.image, pods, note].map(visibleText)]
    })
    await printResult({ revisions: shown }, options.output, () =>
      printTable(REVISION_HEADINGS, rows, options.output),
    )
  })
}
