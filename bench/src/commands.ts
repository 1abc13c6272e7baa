import { collect, runs, wholeNumber, withExample, withOutput, withRequired } from '@sluice/cli/program'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { ENGINES } from './model/engine.js'
import { PEERS } from './model/run.js'
import { METHODS, TIERS } from './model/scenario.js'

const MAX_CONNECTIONS = 100_000
const MAX_SECONDS = 86_400
const MAX_RATE = 100_000_000
/** Maximum process id of 64-bit Linux. */
const MAX_PID = 4_194_304
const TIER_NAMES = TIERS.map(({ tier }) => tier)

/** Adds the commands of `gw bench`. Their code is loaded when they run. */
export function addCommands(bench: Command): void {
  addRun(bench)
  addQuick(bench)
  addPolicy(bench)
  addList(bench)
  addCompare(bench)
  addReport(bench)
  addCapacity(bench)
  addUpstream(bench)
  addLoadgen(bench)
  addSink(bench)
  addDoctor(bench)
}

function addRun(bench: Command): void {
  const run = bench
    .command('run')
    .description('run a suite and write its reports')
    .argument('<suite>', 'name of a suite, see gw bench list')
    .option(
      '--scenario <id>',
      "measure only this scenario, or a pattern such as '*-post-5kb'; repeatable",
      collect,
    )
    .option('--tier <list>', 'measure only these tiers, such as W1,W2', nameList(TIER_NAMES))
    .option('--quick', 'run every scenario once for a few seconds, without fixed rates')
    .option(
      '--target <address>',
      'measure a running server, such as http://10.0.0.7:8080, instead of our gateway',
    )
  addMeasuring(run)
  run.action(runs(async () => (await import('./commands/run.js')).benchRun))
  withExample(
    run,
    'gw bench run apinizer --tier W1 --with nginx',
    'gw bench run apinizer-classic --target http://10.0.0.7:8080 --no-rates',
    'gw bench run chaos --scenario worker-kill --fail-on-invalid',
  )
}

function addQuick(bench: Command): void {
  const quick = bench
    .command('quick')
    .description('measure for a few seconds, or measure a running server; writes reports only with --out')
    .argument('[url]', 'URL of a running server; without it a gateway is started')
  addCall(quick)
  addMeasuring(quick)
  quick.action(runs(async () => (await import('./commands/run.js')).benchQuick))
  withExample(
    quick,
    'gw bench quick --with nginx',
    "gw bench quick http://127.0.0.1:8080/orders --data '{\"id\":1}' --header 'content-type: application/json'",
  )
}

function addPolicy(bench: Command): void {
  const policy = bench
    .command('policy')
    .description('measure what one policy adds to a request')
    .argument('<name>', 'policy, or chain from gw bench list policies')
  addMeasuring(policy)
  policy.action(runs(async () => (await import('./commands/policy.js')).benchPolicy))
  withExample(policy, 'gw bench policy header', 'gw bench policy basic-auth --seconds 30 --repetitions 5')
}

/** Adds options for duration, repetitions, engines and results. */
function addMeasuring(command: Command): void {
  command
    .option(
      '--connections <list>',
      "numbers of connections instead of the suite's, such as 64,256",
      numberList(1, MAX_CONNECTIONS),
    )
    .option('--seconds <n>', 'measured time of each point, in seconds', wholeNumber(1, MAX_SECONDS))
    .option('--warm-up <n>', 'seconds before the measured time', wholeNumber(0, MAX_SECONDS))
    .option('--repetitions <n>', 'repetitions of each point', wholeNumber(1, 100))
    .option(
      '--cool-down <n>',
      'pause between points in seconds; default 5 for points of a minute or more',
      wholeNumber(0, 3600),
    )
    .option(
      '--rates <list>',
      'measure latency at these percentages of the throughput, such as 50,70,80,90',
      numberList(1, 100),
    )
    .option('--no-rates', 'measure throughput only')
    .option('--slo <time>', 'report the highest rate with a P99 below this, such as 50ms')
    .addOption(engineOption('--engine <name>', 'load generator').default('autocannon'))
    .addOption(
      engineOption('--saturation-engine <name>', 'load generator for throughput, which need not hold a rate'),
    )
    .option('--with <peers>', `measure these peers too: ${PEERS.join(', ')}`, nameList(PEERS))
    .option(
      '--pid <n>',
      'first process of a local target, for measuring CPU time and memory',
      wholeNumber(1, MAX_PID),
    )
    .option('--out <dir>', 'folder for the reports; default results/ID')
    .option('--no-pin', 'let the scheduler choose the cores')
    .option('--fail-on-invalid', 'exit with 7 if a point or trial is not valid, or a trial is not passed')
  withOutput(command, 'table', 'json')
}

function addList(bench: Command): void {
  const list = bench
    .command('list')
    .description('list the suites, or the scenarios of a suite')
    .argument('[suite]', 'name of a suite')
  withOutput(list, 'table', 'json', 'yaml').action(
    runs(async () => (await import('./commands/list.js')).listSuites),
  )
  withExample(list, 'gw bench list', 'gw bench list wso2-mi')
}

function addCompare(bench: Command): void {
  const compare = bench
    .command('compare')
    .description('compare two runs of the same suite, point by point')
    .argument('<before>', 'summary.json or its folder')
    .argument('<after>', 'summary.json or folder of the later run')
    .option('--fail-if <limits>', 'exit with 7 if a limit is exceeded, such as "rps<-5% or p99>+10%"')
    .option('--partial', 'allow points that the later run has not measured')
  withOutput(compare, 'table', 'json').action(
    runs(async () => (await import('./commands/saved-runs.js')).benchCompare),
  )
  withExample(compare, 'gw bench compare results/main results/branch --fail-if "rps<-5% or p99>+10%"')
}

function addReport(bench: Command): void {
  const report = bench
    .command('report')
    .description('write the reports of a run again')
    .argument('<run>', 'summary.json or its folder')
    .action(runs(async () => (await import('./commands/saved-runs.js')).benchReport))
  withExample(report, 'gw bench report results/main')
}

function addCapacity(bench: Command): void {
  const capacity = bench
    .command('capacity')
    .description('calculate tier and replicas for a load from measured points')
  withRequired(capacity, '--rps <n>', {
    description: 'requests per second at peak',
    parse: wholeNumber(1, MAX_RATE),
  })
    .option('--body <size>', 'size of the request body, such as 5kb', '0b')
    .option('--policies <list>', 'policies of the route, such as basic-auth,header')
    .option(
      '--connections <n>',
      'concurrent client connections, for the memory of the pods',
      wholeNumber(1, MAX_RATE),
    )
    .option('--from <run>', 'run, or folder of runs; repeatable; default results', collect)
  withOutput(capacity, 'table', 'json').action(
    runs(async () => (await import('./commands/saved-runs.js')).benchCapacity),
  )
  withExample(capacity, 'gw bench capacity --rps 5000 --body 5kb --policies basic-auth')
}

function addUpstream(bench: Command): void {
  const upstream = bench
    .command('upstream')
    .description('run the built-in origin in the foreground, until SIGINT')
    .option('--listen <address>', 'listening address', '127.0.0.1:9000')
    .option('--bytes <size>', 'size of the responses', '128b')
    .option('--echo', 'respond with the request body')
    .option('--delay <time>', 'delay of each response, such as 10ms', '0ms')
    .action(runs(async () => (await import('./commands/servers.js')).benchUpstream))
  withExample(upstream, 'gw bench upstream --listen 127.0.0.1:9000 --echo')
}

function addLoadgen(bench: Command): void {
  const loadgen = bench
    .command('loadgen')
    .description('run a load generator alone; exits with 1 if there was no response')
    .argument('<url>', 'URL to request')
    .addOption(engineOption('--engine <name>', 'load generator').default('autocannon'))
    .option('--connections <n>', 'number of connections', wholeNumber(1, MAX_CONNECTIONS), 64)
    .option('--seconds <n>', 'duration in seconds', wholeNumber(1, MAX_SECONDS), 10)
    .option(
      '--rate <n>',
      'requests per second, with latency from the planned time; default full speed',
      wholeNumber(1, MAX_RATE),
    )
  addCall(loadgen)
  withOutput(loadgen, 'table', 'json').action(
    runs(async () => (await import('./commands/loadgen.js')).benchLoadgen),
  )
  withExample(loadgen, 'gw bench loadgen http://127.0.0.1:9000/ --connections 256 --rate 5000')
}

function addSink(bench: Command): void {
  const sink = bench
    .command('sink')
    .description('count and discard log records in the foreground, until SIGINT')
    .option('--listen <address>', 'listening address', '127.0.0.1:9200')
    .option('--delay <time>', 'delay of each response, such as 50ms', '0ms')
  withOutput(sink, 'table', 'json').action(
    runs(async () => (await import('./commands/servers.js')).benchSink),
  )
  withExample(sink, 'gw bench sink --listen 127.0.0.1:9200 --delay 20ms')
}

function addDoctor(bench: Command): void {
  const doctor = bench
    .command('doctor')
    .description('check whether this host suits a benchmark; exits with 2 if not')
  withOutput(doctor, 'table', 'json', 'yaml').action(
    runs(async () => (await import('./commands/doctor.js')).benchDoctor),
  )
  withExample(doctor, 'gw bench doctor')
}

/** Adds options for the request to a URL. */
function addCall(command: Command): void {
  command
    .addOption(
      new Option('-X, --method <name>', 'method; default GET, or POST with a body').choices([...METHODS]),
    )
    .option(
      '-H, --header <line>',
      "header, such as 'accept: text/plain', or @FILE with header lines; repeatable",
      collect,
    )
    .option('--data <text>', 'request body, or @FILE')
    .option('--body <size>', 'size of a generated JSON body, such as 5kb')
}

function engineOption(flags: string, description: string): Option {
  return new Option(flags, description).choices([...ENGINES])
}

/** Parses a comma-separated list of numbers within bounds. The result is sorted and unique. */
function numberList(least: number, most: number): (text: string) => number[] {
  const read = wholeNumber(least, most)
  return (text) => [...new Set(text.split(',').map((part) => read(part.trim())))].sort((a, b) => a - b)
}

/** Parses a comma-separated list of known names. The option may be repeated. */
function nameList<N extends string>(known: readonly N[]): (text: string, before?: readonly N[]) => N[] {
  return (text, before = []) => {
    const names = text.split(',').map((part) => {
      const name = known.find((one) => one === part.trim())
      if (name !== undefined) return name
      throw new InvalidArgumentError(`allowed choices are ${known.join(', ')}, with commas between them`)
    })
    return [...new Set([...before, ...names])]
  }
}
