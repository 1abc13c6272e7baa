import { EXIT, Failure, say } from '@sluice/cli/kit'
import { suggestion } from '@sluice/config'
import { engineOf, engines } from '../engine/engines.js'
import type { Engine, EngineName } from '../model/engine.js'
import type { PeerName, RunOptions, Target } from '../model/run.js'
import type { Suite, SuiteCase } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { missingPeer } from '../servers/peers.js'
import { quickSuite } from '../suite/quick.js'
import { originOf } from './call.js'
import { usage } from './settings.js'
import { shownCommand } from './shown-command.js'

/** Latency is measured at these percentages of the throughput when nothing else is asked for. */
export const USUAL_RATES = [50, 70, 80, 90]
/** The load of a trial in percent of what was measured at saturation. */
const USUAL_LOAD = [60]
const MOST_LOAD = 95
/** What is for points; a trial has its own gateway, is carried out once, and loads it as much as its figures say. */
const FOR_POINTS = ['with', 'tier', 'slo', 'repetitions', 'target', 'pid'] as const
/** Where points take minutes a pause between them costs little; a first impression does without. */
const COOL_DOWN_SECONDS = 5

/** The options of the commands that measure. */
export interface MeasuringFlags {
  readonly connections?: readonly number[]
  readonly seconds?: number
  readonly warmUp?: number
  readonly repetitions?: number
  readonly coolDown?: number
  /** False: at none. */
  readonly rates?: readonly number[] | false
  readonly slo?: string
  readonly engine: EngineName
  readonly saturationEngine?: EngineName
  readonly with?: readonly PeerName[]
  readonly pid?: number
  readonly out?: string
  readonly pin: boolean
  readonly failOnInvalid?: boolean
  readonly output: 'table' | 'json'
}

/** Which part of a suite, and of whom it is asked. */
export interface ChoiceFlags {
  readonly scenario?: readonly string[]
  readonly tier?: readonly Tier[]
  readonly quick?: boolean
  readonly target?: string
}

/** The part of a suite that the options ask for. @throws Failure when they ask for what it does not have. */
export function chosenSuite(suite: Suite, flags: MeasuringFlags & ChoiceFlags): Suite {
  const chosen = suite.trials === undefined ? chosenCases(suite, flags) : chosenTrials(suite, flags)
  const part = flags.quick === true ? quickSuite(chosen) : chosen
  const { connections } = flags
  if (connections === undefined) return part
  const cases = part.cases.map(({ scenario }) => ({ scenario, connections }))
  if (part.trials === undefined) return { ...part, cases }
  if (connections.length > 1) throw usage('--connections: a trial has one number of connections, such as 128')
  return { ...part, trials: part.trials.map((plan) => ({ ...plan, connections: connections[0]! })) }
}

/** The usual cases where none is named; else all that are, variants among them. */
function chosenCases(suite: Suite, { scenario: wanted = [], tier: tiers = [] }: ChoiceFlags): Suite {
  const isOfTier = ({ scenario }: SuiteCase): boolean =>
    tiers.length === 0 || (scenario.tier !== null && tiers.includes(scenario.tier))
  const variants = suite.variants ?? []
  const all = [...suite.cases, ...variants]
  const ids = namesMatching(
    suite.name,
    all.map(({ scenario }) => scenario.id),
    wanted,
  )
  const named = wanted.length === 0 ? suite.cases : all.filter(({ scenario }) => ids.includes(scenario.id))
  const usual = named.filter(isOfTier)
  // A tier that is none of the usual ones names the variants that have it.
  const cases = usual.length === 0 && wanted.length === 0 ? variants.filter(isOfTier) : usual
  if (cases.length > 0) return { ...suite, cases }
  throw usage(
    `no scenario is left: those asked for are not of tier ${tiers.join(' or ')}; see gw bench list ${suite.name}`,
  )
}

function chosenTrials(suite: Suite, flags: MeasuringFlags & ChoiceFlags): Suite {
  const trials = suite.trials ?? []
  const alone = FOR_POINTS.find((name) => flags[name] !== undefined)
  if (alone !== undefined)
    throw usage(
      `--${alone} is not for the trials of '${suite.name}'; choose them with --scenario, their load with --rates`,
    )
  const ids = namesMatching(
    suite.name,
    trials.map(({ id }) => id),
    flags.scenario ?? [],
  )
  return { ...suite, trials: trials.filter(({ id }) => ids.includes(id)) }
}

/** Those of a suite's ids that are named or match a pattern; all when nothing is. `*` stands for any part of a name. */
function namesMatching(suite: string, ids: readonly string[], wanted: readonly string[]): readonly string[] {
  if (wanted.length === 0) return ids
  const matches = wanted.map((name) => {
    const parts = name.split('*').map((part) => part.replace(/[^\w-]/g, '\\$&'))
    const found = ids.filter((id) => new RegExp(`^${parts.join('.*')}$`).test(id))
    if (found.length > 0) return found
    const hint = suggestion(name, ids, `gw bench list ${suite} names them`)
    throw usage(`the suite '${suite}' has no scenario '${name}'; ${hint}`)
  })
  return ids.filter((id) => matches.some((found) => found.includes(id)))
}

/**
 * The options of a run, after what it needs has been found installed.
 * @param usualRates where the options say nothing of rates, in percent.
 * @throws Failure that says what is missing and what to do.
 */
export function runOptions(
  suite: Suite,
  flags: MeasuringFlags & ChoiceFlags,
  usualRates: readonly number[],
): Omit<RunOptions, 'signal'> {
  const engine = installedEngine(flags.engine)
  const saturationEngine = installedEngine(flags.saturationEngine ?? flags.engine)
  const rates =
    suite.trials === undefined ? possibleRates(engine, flags.rates, usualRates) : trialLoad(flags.rates)
  const seconds = flags.seconds ?? suite.seconds
  return {
    ...{ suite, engine: engine.name, saturationEngine: saturationEngine.name, seconds },
    peers: installedPeers(flags.with ?? []),
    target: targetOf(flags),
    warmUpSeconds: flags.warmUp ?? suite.warmUpSeconds,
    repetitions: flags.repetitions ?? suite.repetitions,
    coolDownSeconds: flags.coolDown ?? (seconds >= 60 ? COOL_DOWN_SECONDS : 0),
    rateShares: rates.map((percent) => percent / 100),
    isPinned: flags.pin,
    command: shownCommand(process.argv.slice(2)),
  }
}

/** A load generator. @throws Failure when it is not installed, with those that are. */
export function installedEngine(name: EngineName): Engine {
  const engine = engineOf(name)
  if (engine.version() !== null) return engine
  const others = engines.filter((one) => one.version() !== null).map((one) => one.name)
  throw new Failure(
    EXIT.failed,
    `the load generator '${name}' is not on the PATH; ${engine.remedy}, or take ${others.join(' or ')}`,
  )
}

/** Some of several are better than none; who asked for those alone waits for them. */
function installedPeers(peers: readonly PeerName[]): readonly PeerName[] {
  const problems = peers.map(missingPeer).filter((problem) => problem !== null)
  if (problems.length > 0 && problems.length === peers.length)
    throw new Failure(EXIT.failed, problems.join('\n'))
  for (const problem of problems) say(problem)
  return peers.filter((peer) => missingPeer(peer) === null)
}

function targetOf({ target, pid }: MeasuringFlags & ChoiceFlags): Target | null {
  if (target !== undefined) return { origin: originOf(target, '--target'), pid: pid ?? null }
  if (pid === undefined) return null
  throw usage('--pid names the process of a target; name that as well')
}

/** Rates that were asked for must be possible; the usual ones are left out where they are not. */
function possibleRates(
  engine: Engine,
  asked: readonly number[] | false | undefined,
  usual: readonly number[],
): readonly number[] {
  const rates = asked === false ? [] : (asked ?? usual)
  if (rates.length === 0 || engine.hasOpenLoop) return rates
  if (asked !== undefined) throw usage(`${cannotHold(engine)}, or write --no-rates`)
  say(`latency at fixed rates is not measured: ${cannotHold(engine)}`)
  return []
}

function trialLoad(rates: readonly number[] | false = USUAL_LOAD): readonly number[] {
  if (rates !== false && rates.length === 1 && rates[0]! <= MOST_LOAD) return rates
  throw usage(`--rates: a trial has one load of at most ${MOST_LOAD} %, such as --rates 60`)
}

function cannotHold({ name }: Engine): string {
  const able = engines.filter((one) => one.hasOpenLoop && one.version() !== null).map((one) => one.name)
  return `${name} cannot hold a rate; ${able.join(' and ')} can, beside --saturation-engine ${name}`
}
