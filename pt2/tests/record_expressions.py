# Records values of expressions, as PyTorch computes them.
import gzip, json, random, sys
import sympy, torch
from sympy.printing.repr import srepr
from torch.utils._sympy import functions as F
random.seed(0)
names=['s0','s1','s17','u3']
syms={n: sympy.Symbol(n, integer=True, positive=True) if n[0]=='s' else sympy.Symbol(n, integer=True) for n in names}
I=sympy.Integer
def leaf():
    return syms[random.choice(names)] if random.random()<.65 else I(random.choice([-7,-2,-1,0,1,2,3,4,8,64,127]))
def size(d):
    if d==0: return leaf()
    a=lambda: size(d-1-(random.random()<.3 and d>1)); p=lambda: F.Max(I(1),a())
    k=random.randrange(22)
    if k<3: return a()+a()
    if k<6: return a()*a()
    if k==6: return a()-a()
    if k==7: return F.FloorDiv(a(),p())
    if k==8: return F.PythonMod(a(),p())
    if k==9: return F.Mod(F.Max(I(0),a()),p())
    if k==10: return F.Max(a(),a(),a())
    if k==11: return F.Min(a(),a())
    if k==12: return sympy.Pow(syms[random.choice(names)],random.choice([2,3]))
    if k==13: return F.CeilDiv(a(),p())
    if k==14: return F.Where(cond(d-1),a(),a())
    if k==15: return F.FloorToInt(flt(d-1))
    if k==16: return F.CeilToInt(flt(d-1))
    if k==17: return F.TruncToInt(flt(d-1))
    if k==18: return F.RoundToInt(flt(d-1))
    if k==19: return F.ModularIndexing(F.Max(I(0),a()),I(random.randint(1,5)),I(random.randint(1,9)))
    if k==20: return random.choice([F.BitwiseFn_bitwise_and,F.BitwiseFn_bitwise_or,F.BitwiseFn_bitwise_xor])(a(),a())
    return random.choice([F.LShift,F.RShift])(a(),F.Min(I(5),F.Max(I(0),a())))
def flt(d):
    k=random.randrange(7); a=lambda: size(max(d-1,0))
    if k==0: return F.IntTrueDiv(a(),F.Max(I(1),a()))
    if k==1: return F.ToFloat(a())*sympy.Float(random.choice([.5,1.25,2.0,.1]))
    if k==2: return F.FloatTrueDiv(F.ToFloat(a()),sympy.Float(3.0))
    if k==3: return F.OpaqueUnaryFn_sqrt(F.ToFloat(F.Max(I(0),a())))
    if k==4: return F.FloatPow(F.ToFloat(F.Max(I(1),F.Min(I(50),a()))),sympy.Float(.5))
    if k==5: return F.RoundDecimal(F.IntTrueDiv(a(),I(7)),I(2))
    return F.OpaqueUnaryFn_log2(F.ToFloat(F.Max(I(1),a())))
def cond(d):
    k=random.randrange(9); a=lambda: size(max(d-1,0)); d=max(d-1,0)
    if k<6: return [sympy.Eq,sympy.Ne,sympy.Lt,sympy.Le,sympy.Gt,sympy.Ge][k](a(),a())
    if k==6 and d: return sympy.And(cond(d),cond(d))
    if k==7 and d: return sympy.Or(cond(d),cond(d))
    if d: return sympy.Not(cond(d))
    return sympy.Ge(a(),I(1))
from torch.utils._sympy.interp import sympy_interp
from torch.utils._sympy.reference import PythonReferenceAnalysis
import torch.utils._sympy.printers
printer=torch.utils._sympy.printers.PythonPrinter()
def value(e,env):
    try: text=printer.doprint(e)
    except Exception: text=None
    if text: return eval(text,{'math':__import__('math'),'torch':torch,**env})
    v=sympy_interp(PythonReferenceAnalysis,{syms[n]:x for n,x in env.items()},e)
    if isinstance(v,sympy.Basic): v = bool(v) if v.is_Boolean else int(v) if v.is_Integer else float(v)
    return v
rows=[]; seen=set(); fails={}
while len(rows)<600:
    try: e=random.choice([size,size,size,flt,cond])(random.randint(1,4))
    except Exception as x: fails[type(x).__name__]=fails.get(type(x).__name__,0)+1; continue
    t=srepr(e)
    if t in seen or len(t)>1500: continue
    seen.add(t)
    vals=[]
    for _ in range(3):
        env={n:random.choice([1,2,3,5,8,17,30,64,101]) for n in names}
        try: v=value(e,env)
        except Exception as x: fails[type(x).__name__+str(x)[:40]]=fails.get(type(x).__name__+str(x)[:40],0)+1; continue
        if isinstance(v,float) and (v!=v or abs(v)>1e300) or isinstance(v,int) and abs(v)>=2**63 or isinstance(v,complex): continue
        vals.append([list(env.values()),v])
    if not vals: continue
    try: py=printer.doprint(e)
    except Exception: py=None
    rows.append({'srepr':t,'str':str(e),'python':py,'values':vals})
print(fails,file=sys.stderr)
for r in rows: print(json.dumps(r,separators=(',',':')))
