import { collect, type GwCommand } from './gw-command.js'

/** Adds the options for the source of records. */
export function addSource(command: GwCommand): void {
  command.option('-c, --config <file>', 'document with the folder or cluster').with(addPlaces)
}

/** Adds the options for the source of records, without the document. */
export function addPlaces(command: GwCommand): void {
  command
    .option('--dir <dir>', 'folder with log files; default ./data/traffic')
    .option('--target <id>', 'id of a log target in the document; main is the one of log.sink')
    .with(addCluster)
}

/**
 * Adds the options for an Elasticsearch cluster. Secrets come from files or the environment, because other
 * users can see the command line.
 */
export function addCluster(command: GwCommand): void {
  command
    .option('--elasticsearch <url>', 'cluster URL; repeat for several nodes', collect)
    .option('--data-stream <name>', 'data stream; default logs-gateway-default')
    .option('--es-username <name>', 'user name; default GW_ES_USERNAME')
    .option('--es-password-file <file>', 'password file; default GW_ES_PASSWORD')
    .option('--es-api-key-file <file>', 'API key file; default GW_ES_API_KEY')
    .option('--es-ca-file <file>', "CA certificates to trust instead of the system's, PEM")
}

/** Adds the filter options. If an option is repeated, any of its values may match; * matches any text. */
export function addFilters(command: GwCommand): void {
  command
    .option('--status <status>', '404, 5xx or 400-499; separate several with commas', collect)
    .option('--route <id>', 'route id', collect)
    .option('--api <name>', 'API name', collect)
    .option('--method <method>', 'method; separate several with commas', collect)
    .option('--path <prefix>', 'path prefix; with *, a pattern for the whole path', collect)
    .option('--host <host>', 'host', collect)
    .option('--client <address>', 'client address', collect)
    .option('--consumer <id>', 'consumer id or name', collect)
    .option(
      '--result <result>',
      'success, blocked, error, aborted or shed; separate several with commas',
      collect,
    )
    .option('--code <code>', 'error code, such as GW_UPSTREAM_TIMEOUT; separate several with commas', collect)
    .option('--id <id>', 'request id', collect)
    .option('--trace <id>', 'trace id', collect)
    .option('--since <time>', 'start of the time range: 10m, 1h, or 2026-01-31T08:00:00Z')
    .option(
      '--where <condition>',
      'condition on any field: field=value, !=, or >, >=, <, <= with a number; combine alternatives with ||',
      collect,
    )
}
