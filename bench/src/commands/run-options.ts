import { Failure, say, usageError } from '@sluice/cli/kit'
import { suggestion } from '@sluice/config'
import { engineOf, engines } from '../engine/engines.js'
import type { Engine, EngineName } from '../model/engine.js'
import type { PeerName, RunOptions, Target } from '../model/run.js'
import type { Suite, SuiteCase } from '../model/scenario.js'
import type { Tier } from '../model/summary.js'
import { missingPeer } from '../servers/peers.js'
import { quickSuite } from '../suite/quick.js'
import { type AgentsFlags, agentsOf } from './agent.js'
import { originOf } from './call.js'
import { shownCommand } from './shown-command.js'

/** Default rates for latency, in percent of the throughput. */
export const USUAL_RATES = [50, 70, 80, 90]
/** Default load of a trial, in percent of saturation. */
const USUAL_LOAD = [60]
const MOST_LOAD = 95
/** Options that apply to points only. A trial runs once, with its own gateway and load. */
const FOR_POINTS = ['with', 'tier', 'slo', 'repetitions', 'target', 'pid', 'agents'] as const
/** Pause between points in seconds, for points that take minutes. */
const COOL_DOWN_SECONDS = 5

/** Options of the measuring commands. */
export interface MeasuringFlags {
  readonly connections?: readonly number[]
  readonly seconds?: number
  readonly warmUp?: number
  readonly repetitions?: number
  readonly coolDown?: number
  /** Rates in percent. False for none. */
  readonly rates?: readonly number[] | false
  readonly slo?: string
  readonly engine: EngineName
  readonly saturationEngine?: EngineName
  readonly with?: readonly PeerName[]
  readonly pid?: number
  readonly out?: string
  readonly pin: boolean
  readonly failOnInvalid?: boolean
  /** True to write `requests.jtl`. */
  readonly jtl?: boolean
  readonly output: 'table' | 'json'
}

/** Options for choosing a part of a suite and its systems. */
export interface ChoiceFlags extends AgentsFlags {
  readonly scenario?: readonly string[]
  readonly tier?: readonly Tier[]
  readonly quick?: boolean
  readonly target?: string
}

/** Returns the selected part of a suite. @throws Failure if it does not exist */
export function chosenSuite(suite: Suite, flags: MeasuringFlags & ChoiceFlags): Suite {
  const chosen = suite.trials === undefined ? chosenCases(suite, flags) : chosenTrials(suite, flags)
  const part = flags.quick === true ? quickSuite(chosen) : chosen
  const { connections } = flags
  if (connections === undefined) return part
  const cases = part.cases.map(({ scenario }) => ({ scenario, connections }))
  if (part.trials === undefined) return { ...part, cases }
  if (connections.length > 1)
    throw usageError('--connections: a trial has one number of connections, such as 128')
  return { ...part, trials: part.trials.map((plan) => ({ ...plan, connections: connections[0]! })) }
}

/** Returns the default cases, or all named ones including variants. */
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
  // An unusual tier selects the variants with that tier.
  const cases = usual.length === 0 && wanted.length === 0 ? variants.filter(isOfTier) : usual
  if (cases.length > 0) return { ...suite, cases }
  throw usageError(
    `no scenario matches: the selected ones do not have tier ${tiers.join(' or ')}; see gw bench list ${suite.name}`,
  )
}

function chosenTrials(suite: Suite, flags: MeasuringFlags & ChoiceFlags): Suite {
  const trials = suite.trials ?? []
  const alone = FOR_POINTS.find((name) => flags[name] !== undefined)
  if (alone !== undefined)
    throw usageError(
      `--${alone} is not for the trials of '${suite.name}'; choose them with --scenario, their load with --rates`,
    )
  const ids = namesMatching(
    suite.name,
    trials.map(({ id }) => id),
    flags.scenario ?? [],
  )
  return { ...suite, trials: trials.filter(({ id }) => ids.includes(id)) }
}

/** Returns the ids that match a name or pattern, or all without patterns. `*` matches any text. */
function namesMatching(suite: string, ids: readonly string[], wanted: readonly string[]): readonly string[] {
  if (wanted.length === 0) return ids
  const matches = wanted.map((name) => {
    const parts = name.split('*').map((part) => part.replace(/[^\w-]/g, '\\$&'))
    const found = ids.filter((id) => new RegExp(`^${parts.join('.*')}$`).test(id))
    if (found.length > 0) return found
    const hint = suggestion(name, ids, `gw bench list ${suite} names them`)
    throw usageError(`the suite '${suite}' has no scenario '${name}'; ${hint}`)
  })
  return ids.filter((id) => matches.some((found) => found.includes(id)))
}

/**
 * Returns the options of a run, after checking that everything is installed.
 * @param usualRates default rates in percent
 * @throws Failure with the remedy if something is missing
 */
export function runOptions(
  suite: Suite,
  flags: MeasuringFlags & ChoiceFlags,
  usualRates: readonly number[],
): Omit<RunOptions, 'signal'> {
  const agents = agentsOf(flags)
  if (agents !== null && flags.target !== undefined)
    throw usageError('--agents and --target cannot be used together')
  // Agents report programs that are missing on their hosts.
  const found = agents === null ? installedEngine : engineOf
  const engine = found(flags.engine)
  const saturationEngine = found(flags.saturationEngine ?? flags.engine)
  const rates =
    suite.trials === undefined ? possibleRates(engine, flags.rates, usualRates) : trialLoad(flags.rates)
  if (flags.jtl === true && (engine.name !== 'autocannon' || saturationEngine.name !== 'autocannon'))
    throw usageError('--jtl: only autocannon reports single requests; leave out the other engines')
  const seconds = flags.seconds ?? suite.seconds
  return {
    ...{ suite, engine: engine.name, saturationEngine: saturationEngine.name, seconds },
    peers: agents === null ? installedPeers(flags.with ?? []) : (flags.with ?? []),
    ...{ agents, target: targetOf(flags) },
    warmUpSeconds: flags.warmUp ?? suite.warmUpSeconds,
    repetitions: flags.repetitions ?? suite.repetitions,
    coolDownSeconds: flags.coolDown ?? (seconds >= 60 ? COOL_DOWN_SECONDS : 0),
    rateShares: rates.map((percent) => percent / 100),
    isPinned: flags.pin,
    command: shownCommand(process.argv.slice(2)),
  }
}

/** Returns a load generator. @throws Failure if it is not installed, with the installed ones */
export function installedEngine(name: EngineName): Engine {
  const engine = engineOf(name)
  if (engine.version() !== null) return engine
  const others = engines.filter((one) => one.version() !== null).map((one) => one.name)
  throw new Failure(
    `the load generator '${name}' is not installed; ${engine.remedy}, or use ${others.join(' or ')}`,
  )
}

/** Some of several peers are enough. A single missing peer is a failure. */
function installedPeers(peers: readonly PeerName[]): readonly PeerName[] {
  const problems = peers.map(missingPeer).filter((problem) => problem !== null)
  if (problems.length > 0 && problems.length === peers.length) throw new Failure(problems.join('\n'))
  for (const problem of problems) say(problem)
  return peers.filter((peer) => missingPeer(peer) === null)
}

function targetOf({ target, pid }: MeasuringFlags & ChoiceFlags): Target | null {
  if (target !== undefined) return { origin: originOf(target, '--target'), pid: pid ?? null }
  if (pid === undefined) return null
  throw usageError('--pid names the process of a target; add --target')
}

/** Explicit rates must be possible. Default rates are left out if they are not. */
function possibleRates(
  engine: Engine,
  asked: readonly number[] | false | undefined,
  usual: readonly number[],
): readonly number[] {
  const rates = asked === false ? [] : (asked ?? usual)
  if (rates.length === 0 || engine.hasOpenLoop) return rates
  if (asked !== undefined) throw usageError(`${cannotHold(engine)}, or write --no-rates`)
  say(`latency at fixed rates is not measured: ${cannotHold(engine)}`)
  return []
}

function trialLoad(rates: readonly number[] | false = USUAL_LOAD): readonly number[] {
  if (rates !== false && rates.length === 1 && rates[0]! <= MOST_LOAD) return rates
  throw usageError(`--rates: a trial takes a single rate of at most ${MOST_LOAD} %, such as --rates 60`)
}

function cannotHold({ name }: Engine): string {
  const able = engines.filter((one) => one.hasOpenLoop && one.version() !== null).map((one) => one.name)
  return `${name} cannot hold a rate; use ${able.join(' or ')}, and ${name} only for --saturation-engine`
}
