import { chromium } from 'playwright-core';
import { readFileSync, mkdirSync } from 'node:fs';
const url = readFileSync('/tmp/ui.out','utf8').split('\n')[0];
const steps = process.argv.slice(2);
mkdirSync('/tmp/shots',{recursive:true});
const b = await chromium.launch({executablePath:'/usr/bin/chromium', args:['--no-sandbox','--disable-gpu','--no-first-run','--disable-background-networking','--disable-component-update','--disable-sync']});
for (const [name,w,h,scheme] of [['wide-light',1280,860,'light'],['wide-dark',1280,860,'dark'],['phone',390,800,'light']]) {
 const ctx = await b.newContext({viewport:{width:w,height:h},colorScheme:scheme}); const p = await ctx.newPage();
 p.on('console',m=>console.log(name,m.type(),m.text())); p.on('pageerror',e=>console.log(name,'ERR',e.message));
 await p.goto(url); await p.waitForTimeout(500);
 for (const s of steps) { const [id,path,act] = s.split('|'); await p.goto(new URL(path,url).href); await p.waitForTimeout(900);
  if (act) await p.evaluate('0') , await (new (Object.getPrototypeOf(async function(){}).constructor)('p',act))(p);
  await p.waitForTimeout(700); await p.screenshot({path:`/tmp/shots/${id}-${name}.png`}); }
 await ctx.close();
}
await b.close();
