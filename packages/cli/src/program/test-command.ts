import { type GwCommand, percent } from './gw-command.js'

/** Adds `gw test`. */
export function addTest(program: GwCommand): void {
  program
    .subcommand('test', 'run test cases against a document, with fake upstreams and a fake clock')
    .argument('[files...]', 'case files or folders; default: tests/ beside the document')
    .option('-c, --config <file>', 'document file', 'gateway.yaml')
    .option('--filter <name>', 'run only cases with this text in their name')
    .option('--bail', 'skip the remaining cases after the first failure')
    .option('--update', 'write changed response snapshots')
    .option('--watch', 'run again when a case file or the document changes')
    .option('--url <url>', 'send the requests to a running gateway; checks only responses')
    .choice('--reporter <name>', 'format of the report', ['spec', 'tap', 'junit'], 'spec')
    .option('--output-file <file>', 'file for the report; spec is still printed')
    .option('--coverage-min <share>', 'minimum share of routes with a case, for example 80%', percent)
    .output('table', 'json')
    .runs(async () => (await import('../commands/test.js')).test)
    .example(
      'gw test -c gateway.yaml',
      'gw test tests/orders.test.yaml -c gateway.yaml --filter limit --watch',
      'gw test -c gateway.yaml --reporter junit --output-file report.xml --coverage-min 80%',
      'gw test -c gateway.yaml --url http://127.0.0.1:8080',
    )
}
