import type { PeerName, Tier } from '@sluice/bench'
import type { Command } from 'commander'
import type { BenchTools } from '../bench/tools.js'
import { addBenchParts } from './bench-parts.js'
import { collect, runs, wholeNumber, withExample, withOutput, withRequired } from './building.js'
import { nameList, numberList } from './lists.js'
import { addCall, engineOption, MAX_CONNECTIONS, MAX_SECONDS } from './load-options.js'

/** Written out, because the command tree loads nothing but itself. */
const PEERS = ['nginx', 'haproxy', 'envoy'] as const satisfies readonly PeerName[]
const TIERS = ['W1', 'W2', 'W4', 'W8'] as const satisfies readonly Tier[]
/** Of Linux with 64 bits. */
const MAX_PID = 4_194_304

type LoadTools = () => Promise<BenchTools>

/** Adds the commands that measure. */
export function addBenchCommands(program: Command, tools: LoadTools): void {
  program.commandsGroup('Benchmarks:')
  const bench = program
    .command('bench')
    .description('measure the gateway, compare runs, and size a deployment')
  addRun(bench, tools)
  addQuick(bench, tools)
  addPolicy(bench, tools)
  addList(bench)
  addCompare(bench, tools)
  addBaseline(bench, tools)
  addReport(bench, tools)
  addCapacity(bench, tools)
  addBenchParts(bench, tools)
}

function addRun(bench: Command, tools: LoadTools): void {
  const run = bench
    .command('run')
    .description('run a suite and write its reports')
    .argument('<suite>', 'one of gw bench list')
    .option(
      '--scenario <id>',
      "only this scenario, or all that match, such as '*-post-5kb'; may be repeated",
      collect,
    )
    .option('--tier <list>', 'only these tiers, such as W1,W2', nameList(TIERS))
    .option(
      '--connections <list>',
      "these numbers of connections in place of the suite's, such as 64,256",
      numberList(1, MAX_CONNECTIONS),
    )
    .option('--slo <time>', 'also search for the highest rate with a P99 below this, such as 50ms')
    .option('--quick', 'every scenario once for seconds, at one number of connections, no fixed rates')
    .option(
      '--target <address>',
      'a server that is running, such as http://10.0.0.7:8080, in place of our own',
    )
    .option('--no-memory-limit', 'let gateway and peers of a tier use more memory than it has')
  addPid(run)
  addMeasuring(run)
  addLoad(run)
  run.action(
    runs(async () => {
      const { benchRun } = await import('../bench/run.js')
      return benchRun(await tools())
    }),
  )
  withExample(
    run,
    'gw bench run apinizer --tier W1 --with nginx',
    'gw bench run apinizer-classic --target http://10.0.0.7:8080 --no-rates',
    'gw bench run wso2-mi --scenario direct-1kb --connections 100 --seconds 30 --repetitions 3 --no-rates',
    'gw bench run chaos --scenario worker-kill --fail-on-invalid',
  )
}

function addQuick(bench: Command, tools: LoadTools): void {
  const quick = bench
    .command('quick')
    .description(
      'a first impression in seconds, or of a server that is running; writes reports only with --out',
    )
    .argument('[url]', 'what is asked for; without it a gateway is started')
    .option(
      '--connections <list>',
      'these numbers of connections, such as 64,256',
      numberList(1, MAX_CONNECTIONS),
    )
    .option('--slo <time>', 'also search for the highest rate with a P99 below this, such as 50ms')
  addCall(quick)
  addPid(quick)
  addMeasuring(quick)
  addLoad(quick)
  quick.action(
    runs(async () => {
      const { benchQuick } = await import('../bench/run.js')
      return benchQuick(await tools())
    }),
  )
  withExample(
    quick,
    'gw bench quick --with nginx',
    'gw bench quick http://127.0.0.1:8080/orders',
    "gw bench quick http://127.0.0.1:8080/orders --data '{\"id\":1}' --header 'content-type: application/json'",
  )
}

/** Whose CPU time and memory are measured. */
function addPid(command: Command): void {
  command.option(
    '--pid <n>',
    'the first process of that server, if it is on this machine: its CPU time and memory are measured',
    wholeNumber(1, MAX_PID),
  )
}

function addPolicy(bench: Command, tools: LoadTools): void {
  const policy = bench
    .command('policy')
    .description('what one policy adds to a request')
    .argument('<name>', 'the policy, or a chain that gw bench list policies names')
  addMeasuring(policy)
  addLoad(policy)
  policy.action(
    runs(async () => {
      const { benchPolicy } = await import('../bench/policy.js')
      return benchPolicy(await tools())
    }),
  )
  withExample(policy, 'gw bench policy header', 'gw bench policy basic-auth --seconds 30 --repetitions 5')
}

/** How long and how often; the suite says it otherwise. */
function addMeasuring(command: Command): void {
  command
    .option('--seconds <n>', 'measured time of each point', wholeNumber(1, MAX_SECONDS))
    .option('--warm-up <n>', 'seconds before it that do not count', wholeNumber(0, MAX_SECONDS))
    .option('--repetitions <n>', 'of each point', wholeNumber(1, 100))
    .option(
      '--cool-down <n>',
      'seconds of rest between points; default 5 from a minute a point on',
      wholeNumber(0, 3600),
    )
    .option(
      '--rates <list>',
      'latency at these percentages of the measured throughput, such as 50,70,80,90',
      numberList(1, 100),
    )
    .option('--no-rates', 'throughput only')
}

/** Who loads whom, and where the results go. */
function addLoad(command: Command): void {
  command
    .addOption(engineOption('--engine <name>', 'the load generator').default('autocannon'))
    .addOption(
      engineOption('--saturation-engine <name>', 'another one for throughput; it need not hold a rate'),
    )
    .option('--with <peers>', `measure these beside it: ${PEERS.join(', ')}`, nameList(PEERS))
    .option('--out <dir>', 'where the reports go; default results/ID')
    .option('--no-pin', 'let the scheduler choose the cores')
    .option('--fail-on-invalid', 'exit with 7 when a point or trial is no result or a trial is not passed')
  withOutput(command, 'table', 'json')
}

function addList(bench: Command): void {
  const list = bench
    .command('list')
    .description('the suites, or the scenarios of one')
    .argument('[suite]', 'the suite')
  withOutput(list, 'table', 'json', 'yaml').action(
    runs(async () => (await import('../bench/list.js')).listSuites),
  )
  withExample(list, 'gw bench list', 'gw bench list wso2-mi')
}

function addCompare(bench: Command, tools: LoadTools): void {
  const compare = bench
    .command('compare')
    .description('two runs of the same suite, point by point; or one with a baseline')
    .argument('<run...>', 'before and after: summary.json or its folder')
    .option('--baseline <name>', 'what gw bench baseline save has kept, in place of before')
    .option('--fail-if <limits>', 'exit with 7 when one is exceeded, such as "rps<-5% or p99>+10%"')
    .option('--partial', 'the later run is a part: what it has not measured does not fail')
  withOutput(compare, 'table', 'json').action(
    runs(async () => {
      const { benchCompare } = await import('../bench/compare.js')
      return benchCompare(await tools())
    }),
  )
  withExample(
    compare,
    'gw bench compare results/main results/branch --fail-if "rps<-5% or p99>+10%"',
    'gw bench compare --baseline main results/branch',
  )
}

function addBaseline(bench: Command, tools: LoadTools): void {
  const baseline = bench.command('baseline').description('runs that are kept under a name, to compare with')
  const save = baseline
    .command('save')
    .description('keep a run in baselines/NAME.json')
    .argument('<run>', 'summary.json or its folder')
    .option('--name <name>', 'what it is called', 'main')
    .option('--force', 'also over one of this name')
    .action(
      runs(async () => {
        const { saveBaseline } = await import('../bench/baseline.js')
        return saveBaseline(await tools())
      }),
    )
  withExample(save, 'gw bench baseline save results/main --name main --force')
  const list = baseline.command('list').description('the baselines of this folder')
  withOutput(list, 'table', 'json').action(
    runs(async () => {
      const { listBaselines } = await import('../bench/baseline.js')
      return listBaselines(await tools())
    }),
  )
  withExample(list, 'gw bench baseline list')
  const remove = baseline
    .command('remove')
    .description('forget one')
    .argument('<name>', 'what it is called')
    .action(runs(async () => (await import('../bench/baseline.js')).removeBaseline))
  withExample(remove, 'gw bench baseline remove main')
}

function addReport(bench: Command, tools: LoadTools): void {
  const report = bench
    .command('report')
    .description('write the reports of a run anew')
    .argument('<run>', 'summary.json or its folder')
    .action(
      runs(async () => {
        const { benchReport } = await import('../bench/report.js')
        return benchReport(await tools())
      }),
    )
  withExample(report, 'gw bench report results/main')
}

function addCapacity(bench: Command, tools: LoadTools): void {
  const capacity = bench.command('capacity').description('tier and replicas for a load, from measured points')
  withRequired(capacity, '--rps <n>', {
    description: 'requests a second at peak',
    parse: wholeNumber(1, 100_000_000),
  })
    .option('--body <size>', 'the body of a request, such as 5kb')
    .option('--policies <list>', 'the policies of the route, such as basic-auth,header')
    .option(
      '--connections <n>',
      'of clients, open at the same time: each pod has the memory for its part',
      wholeNumber(1, 100_000_000),
    )
    .option(
      '--from <run>',
      'summary.json, its folder, or a folder of runs; may be repeated; default all below results',
      collect,
    )
  withOutput(capacity, 'table', 'json').action(
    runs(async () => {
      const { benchCapacity } = await import('../bench/capacity.js')
      return benchCapacity(await tools())
    }),
  )
  withExample(capacity, 'gw bench capacity --rps 5000 --body 5kb --policies basic-auth')
}
