/** TEMPORARY until the real one lands: PostgreSQL only. Replace this file freely. */
import postgres from 'postgres'

export type Row = Record<string, string | null>
export type Database = {
  readonly engine: 'embedded' | 'postgres'
  readonly sql: postgres.Sql
  query(text: string, params?: readonly (string | null)[]): Promise<readonly Row[]>
  ready(): Promise<boolean>
  close(): Promise<void>
}
export async function openDatabase({ url }: { url?: string; dataDir?: string; log: (line: string) => void }): Promise<Database> {
  const text = (from: number[]) => ({ to: 25, from, serialize: (x: unknown) => x as string, parse: (x: string) => x })
  const sql = postgres(url!, { fetch_types: false, onnotice: () => {}, max: 10, types: { json: text([114, 3802]), date: text([1082, 1114, 1184]) } as never })
  return { engine: 'postgres', sql, query: (t, params = []) => sql.unsafe(t, params as never[], { prepare: true }) as never, ready: async () => true, close: () => sql.end() }
}
