/** A Prometheus alert. */
export interface Alert {
  readonly alert: string
  /** PromQL. Every metric has braces, which receive the labels of the gateway. */
  readonly expr: string
  /** Duration for which the expression must hold, in Prometheus syntax. */
  readonly waits: string
  readonly severity: 'critical' | 'warning'
  readonly summary: string
}

/** Alerts of every gateway. docs/reference/metrics.md describes the metrics. */
export const ALERTS: readonly Alert[] = [
  {
    alert: 'SluiceNotReady',
    expr: 'gw_ready{} == 0',
    waits: '5m',
    severity: 'critical',
    summary: 'A gateway has not been ready for five minutes.',
  },
  {
    alert: 'SluiceAbsent',
    expr: 'absent(gw_ready{}) == 1',
    waits: '5m',
    severity: 'critical',
    summary: 'Prometheus has received no metrics from any gateway pod for five minutes.',
  },
  {
    alert: 'SluiceDown',
    expr: 'up{} == 0',
    waits: '2m',
    severity: 'critical',
    summary: 'Prometheus cannot read the metrics of a gateway.',
  },
  {
    alert: 'SluiceSlow',
    expr: 'histogram_quantile(0.99, sum by (le, route) (rate(gw_request_duration_seconds_bucket{}[5m]))) > 2.5',
    waits: '10m',
    severity: 'warning',
    summary: 'The 99th percentile latency of a route has been above 2.5 s for ten minutes.',
  },
  {
    alert: 'SluiceErrorRate',
    expr: 'sum(rate(gw_requests_total{status="5xx"}[5m])) / sum(rate(gw_requests_total{}[5m])) > 0.05',
    waits: '5m',
    severity: 'critical',
    summary:
      'More than 5 % of requests get a 5xx response; gw_errors_total counts those of the gateway itself.',
  },
  {
    alert: 'SluiceUpstreamUnavailable',
    expr: 'sum by (upstream) (rate(gw_upstream_unavailable_total{}[5m])) > 0',
    waits: '2m',
    severity: 'critical',
    summary: 'No target of an upstream is available; its requests get 503.',
  },
  {
    alert: 'SluiceBreakerOpen',
    expr: 'max by (upstream, target) (gw_upstream_target_state{state="open"}) > 0',
    waits: '1m',
    severity: 'warning',
    summary: 'The circuit breaker of a target has been open for a minute.',
  },
  {
    alert: 'SluiceCertificateExpires',
    expr: 'min by (file) (gw_certificate_expires_seconds{}) < 1209600',
    waits: '0m',
    severity: 'warning',
    summary: 'A certificate expires in less than 14 days.',
  },
  {
    alert: 'SluiceTargetUnhealthy',
    expr: 'min by (upstream, target) (gw_upstream_target_healthy{}) == 0',
    waits: '5m',
    severity: 'warning',
    summary: 'The health checks of a target have failed for five minutes.',
  },
  {
    alert: 'SluiceOverloaded',
    expr: 'max by (instance, pod) (gw_worker_overloaded{}) == 1',
    waits: '2m',
    severity: 'warning',
    summary: 'A worker is overloaded and rejects requests; add pods or use a higher tier.',
  },
  {
    alert: 'SluiceWorkerRestarts',
    expr: 'sum by (instance, pod) (increase(gw_worker_restarts_total{}[15m])) > 3',
    waits: '0m',
    severity: 'warning',
    summary: 'Workers exit repeatedly; worker.ended in the operation log has the reason.',
  },
  {
    alert: 'SluiceDocumentRefused',
    expr: 'sum by (instance, pod) (increase(gw_rollouts_total{result!~"applied|unchanged"}[10m])) > 0',
    waits: '0m',
    severity: 'warning',
    summary: 'A document was rejected; the previous configuration stays active.',
  },
  {
    alert: 'SluiceLogRecordsLost',
    expr: 'sum by (target, reason) (increase(gw_log_dropped_total{}[10m])) > 0',
    waits: '0m',
    severity: 'critical',
    summary: 'Records of the traffic log were lost; docs/reference/metrics.md lists the reasons.',
  },
  {
    alert: 'SluiceLogRecordsRefused',
    expr: 'sum by (target) (increase(gw_log_dead_total{}[10m])) > 0',
    waits: '0m',
    severity: 'warning',
    summary:
      'The target of the traffic log permanently rejected records; retry them with gw logs replay-dead.',
  },
  {
    alert: 'SluiceLogLate',
    expr: 'max by (instance, pod, target) (gw_log_lag_seconds{}) > 300',
    waits: '5m',
    severity: 'warning',
    summary: 'Records of the traffic log have been in the spool for more than five minutes.',
  },
  {
    alert: 'SluiceStateUnavailable',
    expr: 'gw_state_connections{} == 0',
    waits: '2m',
    severity: 'warning',
    summary: 'No worker can reach the state server; until then, each pod counts limits separately.',
  },
]
