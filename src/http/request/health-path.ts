// The probes of load balancers and supervisors: never refused by limits, served while the service starts, and not logged at
// level info.

export function isHealthPath(path: string): boolean {
  return path === '/health' || path === '/live' || path === '/ready'; // a Set would have to hash every path
}
