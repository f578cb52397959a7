-- needs: bob/los.sql, bob/pieces.sql
-- Many lines of sight at once in bob (Band of Brothers): 14.0, 45.3, 47.2, 50.2, 55.2.
--
-- What is plain is told by one query, and only the rest goes to bob.los. A line is plainly shut where it crosses the
-- inside of a hex that hides its ends whatever else is drawn, or goes well inside an area that does; it is plainly
-- open where nothing beside it could hide them. Crest lines, ridges, palm trees, hedgerows and what is drawn along
-- the very line are left to bob.los.

drop type if exists bob.sight_cell cascade;
create type bob.sight_cell as (
  q integer,
  r integer,
  level integer,
  least integer,
  most integer,
  areas integer array,
  odd boolean,
  stream boolean
);

comment on type bob.sight_cell is
'A hex as many lines meet it: how high it hides at the least and, but for what is drawn in it, at the most.';
comment on column bob.sight_cell.areas is 'The drawn areas near it that block sight';
comment on column bob.sight_cell.odd is 'Whether a crest line, a ridge or palm trees are there';

create or replace function bob._sight_cells(state positions.state, qs integer[], rs integer[])
returns setof bob.sight_cell
language sql stable rows 200
as $$
  select
    hex.q,
    hex.r,
    dot.level,
    dot.level + case when ground.sight = 'blocks' and not coalesce(art.near, false) then 1 else 0 end,
    -- 40.2: a building with an upper level is two levels high
    dot.level + case when ground.sight = 'blocks' and not coalesce(art.there, false) then 2 else 0 end,
    coalesce(art.areas, '{}'),
    coalesce('ridge' = any(hex.features), false)
    or coalesce(ground.sight = 'blocks_at_second', false)
    or exists (select from public.crest where crest.map_id = state.map_id and public.st_intersects(crest.geom, hex.geom)),
    hex.terrain = 'stream'
  from (
    select min(place.q) as q1, max(place.q) as q2, min(place.r) as r1, max(place.r) as r2
    from unnest(qs, rs) as place (q, r)
  ) as box
  inner join public.hex
    on hex.map_id = state.map_id and hex.q between box.q1 and box.q2 and hex.r between box.r1 and box.r2
  inner join public.terrain as ground on ground.ruleset = 'bob' and ground.code = hex.terrain
  cross join lateral (select bob._level(hex.terrain, hex.level) as level) as dot
  cross join lateral (
    select
      array_agg(area.n) as areas,
      bool_or(area.terrain = hex.terrain) as near,
      bool_or(area.terrain = hex.terrain and public.st_intersects(area.geom, hex.center)) as there
    from public.terrain_area as area
    inner join public.terrain as kind on kind.ruleset = 'bob' and kind.code = area.terrain and kind.sight = 'blocks'
    where area.map_id = state.map_id
      and area.geom operator(public.&&) hex.geom
  ) as art
$$;

comment on function bob._sight_cells(positions.state, integer[], integer[]) is
'The hexes that lines between places can pass.';

drop type if exists bob.sight_line cascade;
create type bob.sight_line as (
  n bigint,
  q integer,
  r integer,
  to_q integer,
  to_r integer,
  high integer,
  low integer,
  downward boolean,
  seen boolean
);

comment on type bob.sight_line is
'One of many lines: its ends, their levels, and whether they see each other as far as the ends alone tell.';

create or replace function bob._sight_hidden(line bob.sight_line, q integer, r integer, top integer)
returns boolean
language sql immutable parallel safe
return top > line.high
or (top = line.high and line.high > line.low)
or (
  top > line.low
  and top < line.high
  and case when line.downward then lattice.distance(q, r, line.to_q, line.to_r) else lattice.distance(q, r, line.q, line.r) end
  <= case when line.downward then lattice.distance(q, r, line.q, line.r) else lattice.distance(q, r, line.to_q, line.to_r) end
  - (line.high - top)
);

comment on function bob._sight_hidden(bob.sight_line, integer, integer, integer) is
'Whether a hex of a height hides the ends of a line from each other, as bob._hides has it (14.0, 47.2).';

create or replace function bob._lit(state positions.state)
returns boolean
language plpgsql stable
as $$
begin
  return jsonb_typeof(state.conditions -> 'night') = 'object' and exists (
    select from public.marker where marker.position_id = state.position_id and marker.kind = 'illumination'
  );
end
$$;

comment on function bob._lit(positions.state) is
'Whether something shines in the night, so that one end of a line may see the other and not be seen (50.1).';

create or replace function bob._too_dark(state positions.state, away integer)
returns boolean
language plpgsql stable
as $$
begin
  return (away > 3 and state.conditions ->> 'weather' = 'monsoon')
    or (away > (state.conditions -> 'night' ->> 'visibility')::integer and not bob._lit(state));
end
$$;

comment on function bob._too_dark(positions.state, integer) is
'Whether nothing is seen so far away, whatever lies between (50.2, 55.2); null where it is day.';

create or replace function bob._sight_lines(
  state positions.state, cells bob.sight_cell[], qs integer[], rs integer[], foe_qs integer[], foe_rs integer[]
)
returns setof bob.sight_line
language sql stable rows 200
as $$
  select
    (here.n - 1) * cardinality(foe_qs) + foe.n,
    here.q,
    here.r,
    foe.q,
    foe.r,
    greatest(one.level, two.level),
    least(one.level, two.level),
    one.level >= two.level,
    case
      -- 55.2, 50.2
      when away.hexes > 3 and state.conditions ->> 'weather' = 'monsoon' then false
      when away.hexes > (state.conditions -> 'night' ->> 'visibility')::integer then false
      when away.hexes = 1 then true
      when (one.stream and two.level <= one.level) or (two.stream and one.level <= two.level) then false
    end
  from unnest(qs, rs) with ordinality as here (q, r, n)
  cross join unnest(foe_qs, foe_rs) with ordinality as foe (q, r, n)
  cross join lateral (select lattice.distance(here.q, here.r, foe.q, foe.r) as hexes) as away
  inner join unnest(cells) as one on one.q = here.q and one.r = here.r
  inner join unnest(cells) as two on two.q = foe.q and two.r = foe.r
  where away.hexes between 1 and 24
    -- 50.1: what is lit may be seen from one end only
    and (
      away.hexes <= coalesce((state.conditions -> 'night' ->> 'visibility')::integer, 24)
      or not bob._lit(state)
    )
$$;

comment on function bob._sight_lines(positions.state, bob.sight_cell[], integer[], integer[], integer[], integer[]) is
'The lines from each of some hexes to each of others, and what their ends alone tell of them (45.3, 50.2, 55.2).';

drop type if exists bob.sight_meeting cascade;
create type bob.sight_meeting as (
  n bigint,
  line bob.sight_line,
  inside boolean,
  enter double precision,
  leave double precision,
  odd boolean,
  areas integer array,
  shuts boolean,
  may_shut boolean,
  art_shuts boolean,
  art_may_shut boolean
);

comment on type bob.sight_meeting is
'A hex that one of many lines crosses or runs along, and whether it hides the ends, by itself or by what is drawn there.';

create or replace function bob._sight_meetings(cells bob.sight_cell[], lines bob.sight_line[])
returns setof bob.sight_meeting
language plpgsql stable rows 2000
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return query
  select
    line.n,
    line,
    trace.kind = 'hex',
    trace.enter::double precision / trace.den,
    trace.leave::double precision / trace.den,
    cell.odd,
    cell.areas,
    bob._sight_hidden(line, cell.q, cell.r, cell.least),
    bob._sight_hidden(line, cell.q, cell.r, cell.most),
    cell.areas <> '{}' and bob._sight_hidden(line, cell.q, cell.r, cell.level + 1),
    cell.areas <> '{}' and bob._sight_hidden(line, cell.q, cell.r, cell.level + 2)
  from unnest(lines) as line
  inner join lattice.trace
    on trace.dq = line.to_q - line.q and trace.dr = line.to_r - line.r and trace.kind in ('hex', 'spine')
  cross join lateral (values (1, trace.q1, trace.r1), (2, trace.q2, trace.r2)) as beside (flank, q, r)
  inner join unnest(cells) as cell on cell.q = line.q + beside.q and cell.r = line.r + beside.r
  where line.seen is null
    and (beside.flank = 1 or trace.kind = 'spine');
end
$$;

comment on function bob._sight_meetings(bob.sight_cell[], bob.sight_line[]) is
'What lines meet whose ends alone do not tell.';

create or replace function bob._sight_hedges(state positions.state, cells bob.sight_cell[], lines bob.sight_line[])
returns table (n bigint)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if not exists (select from public.hexside where hexside.map_id = state.map_id and hexside.kind = 'hedgerow') then
    return;
  end if;
  return query
  with side as materialized (
    select line, trace.x, trace.y, trace.q1, trace.r1, trace.q2, trace.r2
    from unnest(lines) as line
    inner join lattice.trace on trace.dq = line.to_q - line.q and trace.dr = line.to_r - line.r
    where line.seen is null
      and (trace.kind = 'spine' or (trace.kind in ('side', 'end') and trace.crossed))
      -- 44.0: at an end it is seen past
      and not trace.of_start
      and not trace.of_target
  )
  select distinct (side.line).n
  from side
  inner join public.hexside
    on hexside.map_id = state.map_id
      and hexside.x = 2 * (side.line).q + side.x
      and hexside.y = 2 * (side.line).r + side.y
      and hexside.kind = 'hedgerow'
  where not exists (
    select
    from unnest(cells) as cell
    where (cell.q, cell.r) in (
        ((side.line).q + side.q1, (side.line).r + side.r1), ((side.line).q + side.q2, (side.line).r + side.r2)
      )
      and not bob._sight_hidden(side.line, cell.q, cell.r, cell.level + 1)
  );
end
$$;

comment on function bob._sight_hedges(positions.state, bob.sight_cell[], bob.sight_line[]) is
'The lines that a hedgerow shuts: next to neither end, and woods in its hexes would hide them (44.0).';

create or replace function bob._sights(
  state positions.state, qs integer[], rs integer[], foe_qs integer[], foe_rs integer[]
)
returns boolean[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  cells bob.sight_cell[] := array(select cell from bob._sight_cells(state, qs || foe_qs, rs || foe_rs) as cell);
  lines bob.sight_line[] := array(select line from bob._sight_lines(state, cells, qs, rs, foe_qs, foe_rs) as line);
begin
  return (
    with hedged as materialized (
      select * from bob._sight_hedges(state, cells, lines)
    ),
    met as materialized (
      select meeting.*
      from bob._sight_meetings(cells, lines) as meeting
      where not exists (select from hedged where hedged.n = meeting.n)
    ),
    judged as materialized (
      select
        met.n,
        bool_or(met.inside and met.shuts and not met.odd) as shut,
        bool_or(met.odd or met.may_shut) as unsure
      from met
      group by met.n
    ),
    outline as materialized (
      select area.n, area.geom, public.st_buffer(area.geom, -0.02, 'quad_segs=1 join=mitre') as core
      from public.terrain_area as area
      inner join public.terrain as kind on kind.ruleset = 'bob' and kind.code = area.terrain and kind.sight = 'blocks'
      where area.map_id = state.map_id
        and exists (select from met where met.art_may_shut)
    ),
    crossed as materialized (
      select
        met.n,
        -- well inside, and between the ends of its way through the hex
        bool_or(
          met.inside and met.art_shuts and not met.odd and public.st_intersects(
            outline.core,
            public.st_makeline(
              public.st_point(ray.x + met.enter * ray.dx, ray.y + met.enter * ray.dy),
              public.st_point(ray.x + met.leave * ray.dx, ray.y + met.leave * ray.dy)
            )
          )
        ) as shut,
        bool_or(
          not judged.unsure and public.st_intersects(
            outline.geom, public.st_makeline(public.st_point(ray.x, ray.y), public.st_point(ray.x + ray.dx, ray.y + ray.dy))
          )
        ) as touched
      from met
      inner join judged on judged.n = met.n and not judged.shut
      cross join lateral unnest(met.areas) as near (area)
      inner join outline on outline.n = near.area
      cross join lateral (
        select
          3 * (met.line).q as x,
          2 * (met.line).r + (met.line).q as y,
          3 * ((met.line).to_q - (met.line).q) as dx,
          2 * ((met.line).to_r - (met.line).r) + (met.line).to_q - (met.line).q as dy
        offset 0
      ) as ray
      where met.art_may_shut
      group by met.n
    )
    select array_agg(
      case
        when line.n is null then null
        when line.seen is not null then line.seen
        when judged.shut or crossed.shut or hedged.n is not null then false
        when not coalesce(judged.unsure, false) and not coalesce(crossed.touched, false) then true
      end
      order by place.n
    )
    from generate_series(1, cardinality(qs) * cardinality(foe_qs)) as place (n)
    left join unnest(lines) as line on line.n = place.n
    left join judged on judged.n = line.n
    left join crossed on crossed.n = line.n
    left join hedged on hedged.n = line.n
  );
end
$$;

comment on function bob._sights(positions.state, integer[], integer[], integer[], integer[]) is
'For each of some hexes and each of others, in that order: whether they see each other on the ground; null where bob.los must be asked.';

create or replace function bob._seen_by(
  state positions.state, viewers text[], qs integer[], rs integer[], target text, q integer, r integer
)
returns boolean[]
language plpgsql stable
as $$
declare
  seen boolean[] := bob._sights(state, array[q], array[r], qs, rs);
begin
  for j in 1 .. cardinality(viewers) loop
    if seen[j] is null then
      seen[j] := exists (
        select
        from bob.los(state.position_id, viewers[j], target, state.conditions, state.readings) as line
        where line.effect = 'visible'
      );
    end if;
  end loop;
  return seen;
end
$$;

comment on function bob._seen_by(positions.state, text[], integer[], integer[], text, integer, integer) is
'Which of many see one; a place that is not on the ground of its hex is given as null, and its line asked apart.';
