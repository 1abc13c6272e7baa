import type { Tier } from '@sluice/gateway'
import { checkForElsewhere, readDocument } from '../document.js'
import { EXIT, type ExitCode, Failure } from '../failure.js'
import { type Cluster, nameOf } from '../kubernetes/cluster/cluster.js'
import {
  type DeployEnd,
  type DeployPlan,
  documentIn,
  endText,
  GatewayDeploy,
} from '../kubernetes/deploy/gateway-deploy.js'
import { changeLines, type ObjectChange } from '../kubernetes/deploy/object-changes.js'
import { type Revision, readRevisions } from '../kubernetes/deploy/revisions.js'
import type { ObjectIdentity } from '../kubernetes/objects/object.js'
import type { ObjectSettings } from '../kubernetes/objects/settings.js'
import { complain, isTable, print, printValue, say } from '../output/output.js'
import { countText, visibleText } from '../output/text.js'
import type { DocumentOptions } from '../program/building.js'
import { version } from '../version.js'
import { type KubernetesOptions, lastSettings, TIMEOUT_MS, withCluster } from './kubernetes-options.js'

interface DeployOptions extends DocumentOptions, KubernetesOptions {
  readonly tier?: Tier
  readonly replicas?: number
  readonly maxReplicas?: number
  readonly image?: string
  readonly secret?: string
  readonly dryRun?: boolean
  readonly prune?: boolean
  readonly force?: boolean
  readonly note?: string
}

/** Brings a document to a cluster, and waits until every pod says that it serves it. */
export async function deployKubernetes(options: DeployOptions): Promise<number> {
  const source = await readDocument(options.config)
  checkForElsewhere(source)
  return withCluster(options, async (cluster, identity) => {
    const revisions = await readRevisions(cluster, identity)
    const settings = settingsOf(options, identity, lastSettings(revisions))
    return carryOut(cluster, { text: source.text, settings }, options)
  })
}

/** Prints what a deploy of this document would change. */
export async function diffKubernetes(
  options: DeployOptions & { readonly exitCode?: boolean },
): Promise<number> {
  const source = await readDocument(options.config)
  checkForElsewhere(source)
  return withCluster(options, async (cluster, identity) => {
    const settings = settingsOf(options, identity, lastSettings(await readRevisions(cluster, identity)))
    const plan = await deployOf(cluster, { text: source.text, settings }, options).plan()
    const isSame = plan.changes.every(({ kind }) => kind === 'none')
    await printPlan(plan, options)
    return !isSame && options.exitCode === true ? EXIT.differences : EXIT.ok
  })
}

/** Deploys an earlier revision once more. */
export async function rollbackKubernetes(
  options: Omit<DeployOptions, 'config'> & { readonly to?: string },
): Promise<number> {
  return withCluster(options, async (cluster, identity) => {
    const revisions = await readRevisions(cluster, identity)
    const { number, settings, objects } = revisionNamed(revisions, options.to)
    const note = options.note ?? `rollback to ${number}`
    const { replacedFor: _, ...kept } = settings
    return carryOut(cluster, { text: documentIn(objects), settings: kept }, { ...options, note })
  })
}

function revisionNamed(revisions: readonly Revision[], to: string | undefined): Revision {
  const found = to === undefined ? revisions[1] : revisions.find(({ number }) => String(number) === to)
  if (found !== undefined) return found
  const what = to === undefined ? 'no earlier revision' : `no revision '${to}'`
  throw new Failure(EXIT.failed, `there is ${what}; gw history --kubernetes lists them`)
}

interface Wanted {
  readonly text: string
  readonly settings: ObjectSettings
}

type HowToDeploy = Omit<DeployOptions, 'config'>

function deployOf(cluster: Cluster, { text, settings }: Wanted, options: HowToDeploy): GatewayDeploy {
  const { note = '', prune = false, force = false, timeout = TIMEOUT_MS, tokenFile } = options
  const request = {
    text,
    settings,
    note,
    prunes: prune,
    isForced: force,
    timeoutMs: timeout,
    server: tokenFile === undefined ? {} : { tokenFile },
  }
  return new GatewayDeploy(cluster, request, say)
}

async function carryOut(cluster: Cluster, wanted: Wanted, options: HowToDeploy): Promise<ExitCode> {
  const deploy = deployOf(cluster, wanted, options)
  const plan = await deploy.plan()
  if (isTable(options.output)) await printPlan(plan, options)
  for (const note of plan.notes) say(note)
  if (options.dryRun === true) {
    if (!isTable(options.output)) await printPlan(plan, options)
    return EXIT.ok
  }
  const end = await deploy.carryOut(plan)
  if (!isTable(options.output))
    await printValue({ ...planValue(plan, options.prune === true), ...end }, options.output)
  return report(end, plan, options)
}

function report(end: DeployEnd, plan: DeployPlan, { output }: HowToDeploy): ExitCode {
  for (const reason of end.reasons) complain(visibleText(reason))
  if (end.result === 'unreachable') {
    say('nothing was changed')
    return EXIT.unreachable
  }
  if (end.result === 'rolled-back') {
    say('rolled back: what served before goes on serving')
    return EXIT.rolledBack
  }
  const pods = plan.way === 'rolling' ? plan.settings.replicas : plan.pods.length
  if (isTable(output)) print(endText(end, pods))
  return EXIT.ok
}

async function printPlan(plan: DeployPlan, { output, prune = false }: HowToDeploy): Promise<void> {
  if (!isTable(output)) return printValue(planValue(plan, prune), output)
  const lines = changeLines(shownChanges(plan, prune)).map(visibleText)
  if (lines.length === 0) print('no differences')
  else print(...lines, wayText(plan))
  if (prune) return
  for (const { object } of plan.unneeded) say(`${nameOf(object)} is not needed any more; --prune deletes it`)
}

function wayText({ way, pods, settings }: DeployPlan): string {
  const names = pods.map(({ name }) => name).join(', ')
  if (way === 'reload') return `${countText(pods.length, 'pod')} reload, without a restart: ${names}`
  if (way === 'objects') return 'no pod is replaced or reloads'
  if (pods.length === 0) return `${countText(settings.replicas, 'pod')} start`
  return `${countText(pods.length, 'pod')} are replaced, one after the other: ${names}`
}

function shownChanges({ changes, unneeded }: DeployPlan, prunes: boolean): ObjectChange[] {
  return [...changes, ...(prunes ? unneeded : [])].filter(({ kind }) => kind !== 'none')
}

function planValue(plan: DeployPlan, prunes: boolean): object {
  const { way, pods } = plan
  return {
    way,
    changes: shownChanges(plan, prunes).map(({ kind, object, paths }) => ({
      kind,
      object: { kind: object.kind, name: object.metadata.name, namespace: object.metadata.namespace },
      paths,
    })),
    pods: pods.map(({ name }) => name),
  }
}

/** What the command line says, else what the last deploy said, else a gateway of two pods. */
function settingsOf(
  options: HowToDeploy,
  identity: ObjectIdentity,
  last: Partial<ObjectSettings>,
): ObjectSettings {
  const { tier, replicas, image, secret, maxReplicas } = options
  const secretName = secret ?? last.secret
  const most = maxReplicas ?? last.autoscaling?.maxReplicas
  return {
    ...identity,
    tier: tier ?? last.tier ?? 'W2',
    replicas: replicas ?? last.replicas ?? 2,
    image: image ?? last.image ?? `sluice:${version()}`,
    ...(secretName === undefined ? {} : { secret: secretName }),
    ...(most === undefined || most === 0 ? {} : { autoscaling: { maxReplicas: most } }),
  }
}
