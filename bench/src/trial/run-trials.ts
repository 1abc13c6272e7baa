import { Value } from '@sinclair/typebox/value'
import type { RunContext } from '../measure/run-context.js'
import { Progress } from '../measure/run-context.js'
import { Trial, type TrialPlan } from '../model/trial.js'
import { besideSystem, type CoreLayout, coreLayout } from '../process/cores.js'
import { logIdentity } from '../servers/gateway.js'
import { get } from '../suite/scenario-parts.js'
import type { Fault } from './fault.js'
import { FAULTS } from './faults.js'
import { NotAllowed } from './hosts-file.js'
import { openTrialSetup, type TrialSetup } from './setup.js'
import { runTrial } from './trial-run.js'

/** Default load as a share of saturation. */
const USUAL_SHARE = 0.6

/** Runs the trials of a suite in order. */
export async function runTrials(context: RunContext, plans: readonly TrialPlan[]): Promise<Trial[]> {
  const { options, observer, warn } = context
  const progress = new Progress(observer, plans.length)
  const saturations = new Map<string, number>()
  const trials: Trial[] = []
  for (const plan of plans) {
    if (options.signal.aborted) break
    progress.begin(plan.title)
    try {
      trials.push(await tryOnce(context, plan, saturations))
    } catch (error) {
      if (error instanceof NotAllowed) {
        warn(`${plan.id} is left out: ${error.message}`)
        continue
      }
      // Any other problem is a failure of this trial. The next one runs.
      trials.push(notCarriedOut(plan, (error as Error).message))
    }
    observer.onTrial(trials.at(-1)!)
  }
  return trials
}

async function tryOnce(
  context: RunContext,
  plan: TrialPlan,
  saturations: Map<string, number>,
): Promise<Trial> {
  const { rateShares, seconds, warmUpSeconds, isPinned, signal } = context.options
  const fault = FAULTS[plan.id]
  if (fault === undefined) throw new Error(`unknown trial '${plan.id}'`)
  const layout = coreLayout(plan.workers, isPinned)
  return besideSystem(layout, async () => {
    const key = `${plan.workers} ${plan.connections} ${plan.log}`
    const before = { ...context, layout, plan: { ...plan, id: 'saturation' }, fault: null }
    const saturationPerSecond =
      saturations.get(key) ?? (await withSetup(before, (setup) => saturationOf(context, plan, layout, setup)))
    saturations.set(key, saturationPerSecond)
    const perSecond = Math.max(1, Math.round(saturationPerSecond * (rateShares[0] ?? USUAL_SHARE)))
    const injected = fault()
    return withSetup({ ...context, layout, plan, fault: injected }, (setup) =>
      runTrial({
        ...{ plan, fault: injected, setup, warmUpSeconds, seconds, signal },
        ...{ saturationPerSecond, perSecond },
      }),
    )
  })
}

/** Measures saturation until all records are delivered, because a higher load could not last. */
async function saturationOf(
  { options, engines, dir }: RunContext,
  { connections }: TrialPlan,
  { load }: CoreLayout,
  { gateway }: TrialSetup,
): Promise<number> {
  const startMono = performance.now()
  const { requests, seconds } = await engines.saturation.run({
    ...{ origin: gateway.url, call: get('/'), connections, perSecond: null, cpu: load, dir },
    warmUpSeconds: Math.min(options.warmUpSeconds, 2),
    seconds: Math.min(10, Math.max(1, options.seconds / 4)),
  })
  if (requests === 0) throw new Error('the gateway answered no request at saturation')
  if (!gateway.hasLog) return requests / seconds
  await gateway.settled()
  const { received } = await logIdentity(gateway.admin)
  return Math.min(requests / seconds, (received * 1000) / (performance.now() - startMono))
}

interface SetupContext extends RunContext {
  readonly layout: CoreLayout
  readonly plan: TrialPlan
  readonly fault: Fault | null
}

/** A problem while stopping is only a warning, so that no result is lost. */
async function withSetup<T>(
  { layout, plan, fault, dir, versions, documents, warn, ...context }: SetupContext,
  act: (setup: TrialSetup) => Promise<T>,
): Promise<T> {
  const logNode = plan.log === 'none' ? null : context.logNode
  await logNode?.revive()
  const setup = await openTrialSetup({ dir, plan, needs: fault?.needs ?? {}, layout, logNode })
  versions['origin'] = setup.origin.version
  if (fault !== null) documents[plan.id] = setup.gateway.digest
  try {
    return await act(setup)
  } finally {
    const report = (error: Error): void => warn(`${plan.id}: not all of it was stopped: ${error.message}`)
    await setup.close().catch(report)
    // Documents of one trial would slow down the next.
    await logNode?.node.request('DELETE', `/_data_stream/${setup.dataStream}`).catch(report)
  }
}

/** Returns a failed trial without observations. */
function notCarriedOut({ id, title, action, workers, connections }: TrialPlan, reason: string): Trial {
  const failures = [`it could not be carried out: ${reason}`]
  return { ...Value.Create(Trial), id, title, action, workers, connections, failures }
}
