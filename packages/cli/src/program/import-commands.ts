import { collect, type GwCommand } from './gw-command.js'

/** Adds the commands that create documents from other formats. */
export function addImportCommands(program: GwCommand): void {
  const imports = program.subcommand('import', 'create documents from other formats')
  imports
    .subcommand('openapi', 'create a document from OpenAPI descriptions, with one route per operation')
    .argument('<files...>', 'OpenAPI 3.0 or 3.1 descriptions, YAML or JSON')
    .option('--upstream <url>', 'URL of the API; default: the servers in the description')
    .option('--issuer <url>', 'issuer of the bearer tokens, if the description does not name it')
    .option('--no-validate', 'leave out the policy openapi, which validates requests')
    .with(addOutput)
    .runs(async () => (await import('../commands/import.js')).importOpenapi)
    .example(
      'gw import openapi api.yaml --out gateway.yaml --upstream http://10.0.0.5:9000',
      'gw import openapi orders.yaml invoices.yaml --out gateway.yaml --report-file report.txt',
    )
  imports
    .subcommand('nginx', 'create a document from configurations of nginx')
    .argument('<files...>', 'nginx.conf, or files with servers; files that they include are read, too')
    .option('--port <port>', 'port to import; repeatable; default: the first of each scheme', collect)
    .with(addOutput)
    .runs(async () => (await import('../commands/import.js')).importNginx)
    .example('gw import nginx /etc/nginx/nginx.conf --out gateway.yaml --report-file report.txt')
  imports
    .subcommand('kong', 'create a document from declarative configurations of Kong 2 and 3')
    .argument('<files...>', 'YAML or JSON files, such as kong.yaml or the result of deck gateway dump')
    .with(addOutput)
    .runs(async () => (await import('../commands/import.js')).importKong)
    .example('gw import kong kong.yaml --out gateway.yaml')
  imports
    .subcommand('krakend', 'create a document from configurations of KrakenD')
    .argument('<files...>', 'JSON files in version 2 or 3 of the format')
    .with(addOutput)
    .runs(async () => (await import('../commands/import.js')).importKrakend)
    .example('gw import krakend krakend.json --out gateway.yaml')
}

/** Adds the options that all sources share. */
function addOutput(command: GwCommand): void {
  command
    .option('--out <file>', 'document file to write; default: stdout')
    .option('--force', 'overwrite existing files')
    .choice('--report <format>', 'format of the report on stderr', ['text', 'json'], 'text')
    .option('--report-file <file>', 'write the report to a file')
    .option('--strict', 'write no document and exit with 3 if something was not mapped')
    .option('--allow-unprotected', 'do not close routes whose protection was not mapped')
    .output('yaml', 'json')
}
