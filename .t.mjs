import { openQueries } from './dist/src/warehouse/query/query.js';
import { mkdirSync } from 'node:fs'; mkdirSync('/tmp/uiscratch',{recursive:true});
for (const wh of ['/tmp/uilake', '/tmp/uilake.duckdb']) for (const sql of ["select * from transactions", "select account, count(*) from transactions group by 1 order by 2 desc","explain analyze select count(*) from transactions","set variable x = 3; create temp table f as select 5 a; select a, getvariable('x'), a from f","copy (select 1) to '/tmp/uilake/x.csv'","explain analyze copy (select 1) to '/tmp/uilake/x.csv'","from query/**/('select 1')","create view v as select 1; from v","select * from transactionz","describe transactions","select friendly_address(account) from transactions where block_date=$d::DATE limit 3","insert into transactions select * from transactions"]) {
 const t=performance.now();
 try {
 const q = await openQueries(wh,{confinement:{memoryMb:512,temporaryMb:1000,scratch:'/tmp/uiscratch'}, onWarning:w=>console.log('W',w), params: sql.includes('$d')?{d:'2026-05-01'}:undefined});
 const t1=performance.now();
 try { const k = await q.keep(sql, 10000); const t2=performance.now();
 const r = await k.source.query('SELECT * FROM _kept WHERE rowid >= 2 AND rowid < 4');
 const b = await k.source.query("SELECT sum(bytes)::BIGINT FROM duckdb_logs_parsed('FileSystem') WHERE op = 'READ'");
 console.log(sql, k.count, k.isCut, k.columns.length, String(r.rows[0]).slice(0,80), 'bytes', b.rows[0][0], 'open',Math.round(t1-t), 'run',Math.round(t2-t1)); } finally { await q.close(); }
 } catch(e) { console.log(sql, '->', e.code, e.message.slice(0,200), '|', e.hint) }
}
