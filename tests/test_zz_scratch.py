from tests.test_sight import *
import time
def test_time(connection):
    ground=demo("hill-312")
    with Stored(connection, PositionDraft("bob", ground)) as pid:
        connection.execute(sa.text("analyze hex, hexside, marker, position, terrain_area, crest, path"))
        m=connection.scalar(sa.text("select map_id from position where id=:p"),{"p":pid})
        a=ground.scheme.hex("H7"); 
        t=ground.scheme.hex("L11")
        def tm(name, q, n=1):
            t=time.time()
            for _ in range(n): connection.execute(sa.text(q)).all()
            print(name, (time.time()-t)/n*1000)
        for _ in range(2):
            tm("fan", f"select * from bob.fan({pid},'H7')")
            tm("obst x100", f"select count(*) from generate_series(1,100) i, lateral bob._obstacles({pid},{m},{a.q},{a.r},0+i*0,{t.q},{t.r},0,'a','a',false)")
            tm("strips x100", f"select count(*) from generate_series(1,100) i, lateral bob._strips({pid},{m},{a.q}+i*0,{a.r},{t.q},{t.r})")
            tm("covered x100", f"select count(*) from generate_series(1,100) i, lateral bob._covered({m},{a.q}+i*0,{a.r},{t.q},{t.r})")
        print(connection.scalar(sa.text("select sum(st_npoints(geom)) from terrain_area")), connection.scalar(sa.text("select sum(st_npoints(geom)) from crest")))
        for r in connection.execute(sa.text(f"explain (analyze) select * from bob._covered({m},{a.q},{a.r},{t.q},{t.r})")): print(r[0])
