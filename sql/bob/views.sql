-- needs: bob/los.sql, maps/drawn.sql
-- Whether a hex sees others in bob (Band of Brothers), many at once: 14.0, 44.0, 46.0, 47.2, 54.2.
--
-- The rules are those of bob.los, of which only the verdict is asked: what blocks a thread. What each hex is to sight and
-- where artwork runs in it is kept (maps/drawn.sql). A thread begins at a dot of which is known what covers it, and every
-- edge that it crosses changes that by one; so what lies beside it is a running sum, on each flank. Marks are those of
-- bob._mark: exact.

drop type if exists bob.near cascade;
create type bob.near as (
  q integer,
  r integer,
  label text
);

comment on type bob.near is
'A hex that a fan asks about.';

drop type if exists bob.view cascade;
create type bob.view as (
  i integer,
  q integer,
  r integer,
  label text,
  dot integer,
  away integer,
  high integer,
  low integer,
  downward boolean,
  dx bigint,
  dy bigint
);

comment on type bob.view is
'One of many threads from a hex: its number and far end, the levels of its ends, its course.';
comment on column bob.view.dot is 'The level of the far hex';
comment on column bob.view.downward is 'The near end is the higher one, or as high';
comment on column bob.view.dx is 'Its course on the lattice';

create or replace function bob._is_hidden(high integer, low integer, top integer, near integer, far integer)
returns boolean
language sql immutable parallel safe
return top > high
or (top = high and high > low)
or (top > low and top < high and far <= near - (high - top));

comment on function bob._is_hidden(integer, integer, integer, integer, integer) is
'Whether terrain of a height hides two ends from each other, as bob._hides has it (14.0, 47.2).';

create or replace function bob._views(state positions.state, start bob.sight_end, near bob.near[])
returns setof bob.view
language sql stable rows 200
as $$
  select
    target.n::integer,
    target.q,
    target.r,
    target.label,
    target.level,
    target.away,
    greatest(start.level, target.level),
    least(start.level, target.level),
    start.level >= target.level,
    3 * (target.q - start.q),
    2 * (target.r - start.r) + target.q - start.q
  from (
    select
      wanted.n,
      wanted.q,
      wanted.r,
      wanted.label,
      hex.terrain,
      -- 45.4: a Bridge is out of its Gully
      bob._level(hex.terrain, hex.level) + over.bridge::integer as level,
      over.bridge,
      lattice.distance(start.q, start.r, wanted.q, wanted.r) as away
    from unnest(near) with ordinality as wanted (q, r, label, n)
    inner join public.drawn_hex as hex on hex.map_id = start.map_id and hex.q = wanted.q and hex.r = wanted.r
    cross join lateral (
      -- few hexes are asked twice
      select
        case
          when hex.terrain = 'gully' then exists (
            select
            from public.hex as crossed
            where crossed.map_id = start.map_id
              and crossed.q = wanted.q
              and crossed.r = wanted.r
              and bob._bridged(crossed.terrain, crossed.features)
          )
          else false
        end as bridge
    ) as over
    offset 0
  ) as target
  where case
    -- the rules of the whole thread are asked where one of them could speak against it
    when start.in_cave
      or start.upper
      or 'stream' in (start.terrain, target.terrain)
      or state.conditions ->> 'weather' = 'monsoon'
      or state.conditions -> 'night' ->> 'visibility' is not null
      then not exists (
        select
        from bob._whole_line_steps(
          state,
          start,
          row(
            start.map_id, target.q, target.r, target.label, target.terrain, target.level, false, false, null, false,
            exists (
              select
              from public.marker
              where marker.position_id = state.position_id
                and marker.kind = 'illumination'
                and lattice.distance(marker.q, marker.r, target.q, target.r) <= 1
            ),
            target.bridge
          )::bob.sight_end,
          target.away
        ) as step
        where step.effect in ('blocks', 'unknown')
      )
    else true
  end
$$;

comment on function bob._views(positions.state, bob.sight_end, bob.near[]) is
'The threads from a hex to others that the rules of a whole thread do not shut (40.2, 43.4, 45.3, 50.2, 55.2).';

drop type if exists bob.view_cell cascade;
create type bob.view_cell as (
  i integer,
  n integer,
  spine boolean,
  flank integer,
  q integer,
  r integer,
  enter bigint,
  leave bigint,
  den bigint,
  level integer,
  near integer,
  far integer,
  high integer,
  low integer,
  ground_hides boolean,
  woods_hide boolean,
  tower_hides boolean,
  stands boolean,
  fills boolean,
  drawn boolean,
  covered boolean,
  crested boolean,
  bank boolean,
  upper boolean,
  ridge boolean,
  palms boolean
);

comment on type bob.view_cell is
'An intervening hex of one of many threads: of a spine each of its two hexes.';
comment on column bob.view_cell.flank is 'Of a spine the flank on which the hex lies; else null: both';
comment on column bob.view_cell.ground_hides is 'Its ground hides the ends; woods on it; a building with an upper level';
comment on column bob.view_cell.stands is 'What blocks sight fills it; fills: and hides the ends; drawn: such is drawn in it';
comment on column bob.view_cell.covered is 'Such is drawn all over it; the ends do not see over that';
comment on column bob.view_cell.bank is 'A gully hex next to an end, whose bank hides nothing (45.4)';

create or replace function bob._view_cells(state positions.state, start bob.sight_end, lines bob.view[], farthest integer)
returns setof bob.view_cell
language sql stable rows 4000
as $$
  with upper_level as materialized (
    select distinct marker.q, marker.r
    from public.marker
    where marker.position_id = state.position_id
      and marker.kind = 'upper_level'
  ),
  stopping as materialized (
    select coalesce(array_agg(area.n), '{}') as ns
    from public.terrain_area as area
    inner join public.terrain as kind on kind.ruleset = 'bob' and kind.code = area.terrain and kind.sight = 'blocks'
    where area.map_id = start.map_id
  ),
  ground as materialized (
    select
      hex.q,
      hex.r,
      bob._level(hex.terrain, hex.level) as level,
      hex.ridge,
      hex.terrain = 'palm_trees' as palms,
      coalesce(kind.sight = 'blocks', false) and not hex.drawn as fills,
      hex.areas && stopping.ns as drawn,
      hex.whole <> '{}' and hex.whole && stopping.ns as covered,
      hex.crests <> '{}' as crested,
      upper_level.q is not null and hex.terrain in ('stone_building', 'wooden_building') as upper
    from public.drawn_hex as hex
    inner join public.terrain as kind on kind.ruleset = 'bob' and kind.code = hex.terrain
    cross join stopping
    left join upper_level on upper_level.q = hex.q and upper_level.r = hex.r
    where hex.map_id = start.map_id
      and hex.q between start.q - farthest and start.q + farthest
      and hex.r between start.r - farthest and start.r + farthest
  )
  select
    met.i,
    met.n,
    met.spine,
    met.flank,
    met.q,
    met.r,
    met.enter,
    met.leave,
    met.den,
    ground.level,
    met.near,
    met.far,
    met.high,
    met.low,
    bob._is_hidden(met.high, met.low, ground.level, met.near, met.far),
    bob._is_hidden(met.high, met.low, ground.level + 1, met.near, met.far),
    bob._is_hidden(met.high, met.low, ground.level + 2, met.near, met.far),
    ground.fills,
    ground.fills
    and bob._is_hidden(met.high, met.low, ground.level + case when ground.upper then 2 else 1 end, met.near, met.far),
    ground.drawn,
    ground.covered and bob._is_hidden(met.high, met.low, ground.level + 1, met.near, met.far),
    ground.crested,
    ground.level < 0 and 1 in (met.near, met.far),
    ground.upper,
    ground.ridge,
    ground.palms
  from (
    select
      line.i,
      trace.n::integer,
      trace.kind = 'spine' as spine,
      case
        when trace.kind = 'spine'
          then case when (line.dx * (2 * trace.r1 + trace.q1) > line.dy * 3 * trace.q1) = place.first then 1 else -1 end
      end as flank,
      place.q,
      place.r,
      trace.enter,
      trace.leave,
      trace.den,
      line.high,
      line.low,
      case when line.downward then away.near else away.far end as near,
      case when line.downward then away.far else away.near end as far
    from unnest(lines) as line
    cross join lateral (
      select trace.*
      from lattice.trace
      where trace.dq = line.q - start.q
        and trace.dr = line.r - start.r
        and trace.kind in ('hex', 'spine')
      offset 0
    ) as trace
    cross join lateral (
      values (true, start.q + trace.q1, start.r + trace.r1), (false, start.q + trace.q2, start.r + trace.r2)
    ) as place (first, q, r)
    cross join lateral (
      select
        lattice.distance(place.q, place.r, start.q, start.r) as near,
        lattice.distance(place.q, place.r, line.q, line.r) as far
      offset 0
    ) as away
    where place.first or trace.kind = 'spine'
    offset 0
  ) as met
  left join ground on ground.q = met.q and ground.r = met.r
$$;

comment on function bob._view_cells(positions.state, bob.sight_end, bob.view[], integer) is
'The intervening hexes of many threads, none of them farther than so many hexes, each with what it does to sight by itself.';

create or replace function bob._ridges(map_id bigint)
returns table (q integer, r integer, ridge text)
language sql stable rows 10
as $$
  with recursive joined as (
    select hex.label as ridge, hex.q, hex.r
    from public.drawn_hex as hex
    where hex.map_id = _ridges.map_id
      and hex.ridge
    union
    select joined.ridge, hex.q, hex.r
    from joined
    cross join lateral lattice.neighbours(joined.q, joined.r) as beside
    inner join public.drawn_hex as hex
      on hex.map_id = _ridges.map_id and hex.q = beside.nq and hex.r = beside.nr and hex.ridge
  )
  select joined.q, joined.r, min(joined.ridge)
  from joined
  group by joined.q, joined.r
$$;

comment on function bob._ridges(bigint) is
'The hexes of the ridges of a map, each with a name that all hexes of one ridge share (54.2).';

create or replace function bob._dot(place bob.sight_end)
returns integer
language plpgsql stable
as $$
begin
  return (
    select bob._level(hex.terrain, hex.level)
    from public.drawn_hex as hex
    where hex.map_id = place.map_id and hex.q = place.q and hex.r = place.r
  );
end
$$;

comment on function bob._dot(bob.sight_end) is
'The level of the hex of an end, whoever is upstairs or in its cave.';

create or replace function bob._hedged_views(start bob.sight_end, lines bob.view[])
returns integer[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
begin
  if not exists (select from public.hexside where hexside.map_id = start.map_id and hexside.kind = 'hedgerow') then
    return '{}';
  end if;
  return array(
    select distinct line.i
    from unnest(lines) as line
    inner join lattice.trace
      on trace.dq = line.q - start.q
        and trace.dr = line.r - start.r
        and (trace.kind = 'spine' or (trace.kind in ('side', 'end') and trace.crossed))
        -- 44.0: at an end it is seen past
        and not trace.of_start
        and not trace.of_target
    inner join public.hexside
      on hexside.map_id = start.map_id
        and hexside.x = 2 * start.q + trace.x
        and hexside.y = 2 * start.r + trace.y
        and hexside.kind = 'hedgerow'
    cross join lateral (
      select
        bool_and(
          bob._is_hidden(
            line.high,
            line.low,
            bob._level(hex.terrain, hex.level) + 1,
            case when line.downward then away.near else away.far end,
            case when line.downward then away.far else away.near end
          )
        ) as hide
      from (
        values (start.q + trace.q1, start.r + trace.r1), (start.q + trace.q2, start.r + trace.r2)
      ) as place (q, r)
      inner join public.drawn_hex as hex on hex.map_id = start.map_id and hex.q = place.q and hex.r = place.r
      cross join lateral (
        select
          lattice.distance(place.q, place.r, start.q, start.r) as near,
          lattice.distance(place.q, place.r, line.q, line.r) as far
      ) as away
    ) as woods
    where woods.hide
  );
end
$$;

comment on function bob._hedged_views(bob.sight_end, bob.view[]) is
'The threads that a hedgerow shuts: next to neither end, and woods in its hexes would hide them (44.0).';

create or replace function bob._plain_views(
  state positions.state, start bob.sight_end, lines bob.view[], out shut integer[], out unsure integer[]
)
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
set enable_memoize = off
as $$
declare
  farthest integer := (select max(line.away) from unnest(lines) as line);
begin
  with ridge as materialized (
    select * from bob._ridges(start.map_id)
  ),
  cell as materialized (
    select
      met.i,
      met.n,
      -- what shows on both sides of the thread (14.0)
      bool_and(met.level is not null and not met.crested and (met.ground_hides or met.fills or met.covered)) as shuts,
      bool_and(
        met.level is not null
        and (
          met.crested or met.ground_hides or met.fills
          or (met.drawn and (met.woods_hide or (met.upper and met.tower_hides)))
        )
      ) as may_shut,
      bool_and(coalesce(met.ridge, false)) as ridge,
      array_agg(ridge.ridge) filter (where ridge.ridge is not null) as ridges,
      -- 46.0: palm trees that count
      coalesce(
        case
          when min(met.high) = min(met.low)
            then max(met.level) filter (where met.palms) >= min(met.high) or state.readings ->> 'bob-33' <> 'a'
          else bool_or(met.woods_hide) filter (where met.palms)
        end
        and bool_or(met.palms),
        false
      ) as palms
    from bob._view_cells(state, start, lines, farthest) as met
    left join ridge on ridge.q = met.q and ridge.r = met.r
    group by met.i, met.n
  ),
  own as materialized (
    select line.i, line.high = 0 and line.low = 0 as level, one.ridge as one, two.ridge as two
    from unnest(lines) as line
    left join ridge as one on one.q = start.q and one.r = start.r
    left join ridge as two on two.q = line.q and two.r = line.r
  ),
  judged as materialized (
    select
      cell.i,
      bool_or(cell.shuts)
      or count(*) filter (where cell.palms) > 1
      -- 54.2
      or bool_or(
        cell.ridge and own.level
        and not coalesce(own.one = any(cell.ridges), false)
        and not coalesce(own.two = any(cell.ridges), false)
      ) as shut,
      bool_or(cell.may_shut) as unsure
    from cell
    inner join own on own.i = cell.i
    group by cell.i
  )
  select
    coalesce(array_agg(judged.i) filter (where judged.shut), '{}'),
    coalesce(array_agg(judged.i) filter (where judged.unsure and not judged.shut), '{}')
  into shut, unsure
  from judged;
end
$$;

comment on function bob._plain_views(positions.state, bob.sight_end, bob.view[]) is
'The threads that whole hexes shut, and those of which what is drawn inside hexes decides (14.0, 46.0, 47.2, 54.2).';

drop type if exists bob.edge_crossing cascade;
create type bob.edge_crossing as (
  i integer,
  flank integer,
  mark numeric,
  woods integer,
  towers integer,
  rises integer
);

comment on type bob.edge_crossing is
'Where one of many threads crosses edges on a flank: what blocks sight begins (1) or ends (-1) there, the ground rises.';
comment on column bob.edge_crossing.towers is 'Of buildings; woods: of all else that blocks';

create or replace function bob._view_crossings(start bob.sight_end, lines bob.view[])
returns setof bob.edge_crossing
language sql stable rows 5000
as $$
  with stopping as materialized (
    select area.n, area.terrain in ('stone_building', 'wooden_building') as building
    from public.terrain_area as area
    inner join public.terrain as kind on kind.ruleset = 'bob' and kind.code = area.terrain and kind.sight = 'blocks'
    where area.map_id = start.map_id
  )
  select
    met.i,
    beside.flank,
    met.first,
    sum(case when met.crest or stopping.building then 0 when met.off2 < met.off1 then 1 else -1 end)::integer,
    sum(case when met.crest or not stopping.building then 0 when met.off2 < met.off1 then 1 else -1 end)::integer,
    sum(case when not met.crest then 0 when met.off2 > met.off1 then 1 else -1 end)::integer
  from maps._meetings(
    start.map_id,
    start.q,
    start.r,
    array(select line.i from unnest(lines) as line),
    array(select line.q from unnest(lines) as line),
    array(select line.r from unnest(lines) as line),
    array(select stopping.n from stopping),
    true
  ) as met
  left join stopping on stopping.n = met.n and not met.crest
  inner join (values (1), (-1)) as beside (flank)
    on (met.off1 * beside.flank > 0) <> (met.off2 * beside.flank > 0)
  -- what begins at the very dot is reckoned with the dot
  where met.first between case when met.crest then 0 else 1 end and 1e60
  group by met.i, beside.flank, met.first
$$;

comment on function bob._view_crossings(bob.sight_end, bob.view[]) is
'Where many threads cross the edges of what blocks sight, and crest lines, on either flank.';

create or replace function bob._view_beginnings(start bob.sight_end, lines bob.view[])
returns table (i integer, flank integer, woods integer, towers integer)
language sql stable rows 400
as $$
  with stopping as materialized (
    select area.n, area.terrain in ('stone_building', 'wooden_building') as building
    from public.terrain_area as area
    inner join public.terrain as kind on kind.ruleset = 'bob' and kind.code = area.terrain and kind.sight = 'blocks'
    where area.map_id = start.map_id
  )
  select
    line.i,
    beside.flank,
    coalesce(
      sum(case beside.flank when 1 then begun.leftward else begun.rightward end) filter (where not stopping.building), 0
    )::integer,
    coalesce(
      sum(case beside.flank when 1 then begun.leftward else begun.rightward end) filter (where stopping.building), 0
    )::integer
  from unnest(lines) as line
  cross join (values (1), (-1)) as beside (flank)
  left join maps._beginnings(
    start.map_id,
    start.q,
    start.r,
    array(select line.i from unnest(lines) as line),
    array(select line.q from unnest(lines) as line),
    array(select line.r from unnest(lines) as line),
    array(select stopping.n from stopping)
  ) as begun on begun.i = line.i
  left join stopping on stopping.n = begun.n
  group by line.i, beside.flank
$$;

comment on function bob._view_beginnings(bob.sight_end, bob.view[]) is
'What blocks sight where many threads begin, on either flank: how many areas, of buildings and of all else.';

drop type if exists bob.view_strip cascade;
create type bob.view_strip as (
  i integer,
  flank integer,
  n integer,
  enter numeric,
  leave numeric,
  woods integer,
  towers integer,
  rises integer,
  begun integer
);

comment on type bob.view_strip is
'A strip of one of many threads on one flank, in its cell n: how many areas stand there, how far the ground has risen.';
comment on column bob.view_strip.begun is 'Of the first strip of a cell, how far the ground had risen before its mark; else null';

create or replace function bob._view_strips(start bob.sight_end, lines bob.view[])
returns setof bob.view_strip
language sql stable rows 10000
as $$
  with cut as materialized (
    select crossing.i, crossing.flank, crossing.mark, crossing.woods, crossing.towers, crossing.rises, null::integer as n
    from bob._view_crossings(start, lines) as crossing
    union all
    select line.i, beside.flank, place.mark, 0, 0, 0, place.n
    from unnest(lines) as line
    cross join lateral (
      select
        case when cell.last then 1000 else trace.n::integer end as n,
        bob._mark(case when cell.last then trace.leave else trace.enter end, trace.den) as mark
      from (
        select trace.*, row_number() over (order by trace.n desc) = 1 as is_last
        from lattice.trace
        where trace.dq = line.q - start.q
          and trace.dr = line.r - start.r
          and trace.kind in ('hex', 'spine')
        offset 0
      ) as trace
      inner join (values (false), (true)) as cell (last) on trace.is_last or not cell.last
      offset 0
    ) as place
    cross join (values (1), (-1)) as beside (flank)
  ),
  place as (
    select
      cut.i,
      cut.flank,
      cut.mark,
      sum(cut.woods) as woods,
      sum(cut.towers) as towers,
      sum(cut.rises) as rises,
      max(cut.n) as n
    from cut
    group by cut.i, cut.flank, cut.mark
  )
  select
    strip.i,
    strip.flank,
    strip.n,
    strip.mark,
    strip.next,
    (beginning.woods + strip.woods)::integer,
    (beginning.towers + strip.towers)::integer,
    strip.rises::integer,
    strip.begun::integer
  from (
    select
      place.i,
      place.flank,
      place.mark,
      lead(place.mark) over way as next,
      sum(place.woods) over way as woods,
      sum(place.towers) over way as towers,
      sum(place.rises) over way as rises,
      max(place.n) over way as n,
      case when place.n is not null then sum(place.rises) over way - place.rises end as begun
    from place
    window way as (partition by place.i, place.flank order by place.mark)
  ) as strip
  inner join bob._view_beginnings(start, lines) as beginning
    on beginning.i = strip.i and beginning.flank = strip.flank
  where strip.n is not null
$$;

comment on function bob._view_strips(bob.sight_end, bob.view[]) is
'The strips of many threads on either flank, from the first hex between their ends; n is 1000 in the far end''s hex.';

create or replace function bob._crossed_views(state positions.state, start bob.sight_end, lines bob.view[])
returns integer[]
language plpgsql stable
set plan_cache_mode = force_generic_plan
set enable_nestloop = off
set enable_mergejoin = off
set enable_memoize = off
as $$
declare
  own_level integer := bob._dot(start);
  farthest integer := (select max(line.away) from unnest(lines) as line);
begin
  return (
    with cell as materialized (
      select * from bob._view_cells(state, start, lines, farthest)
    ),
    strip as materialized (
      select * from bob._view_strips(start, lines)
    ),
    hilly as materialized (
      select distinct cell.i from cell where cell.crested
    ),
    -- where the level is known for certain: hexes without a crest line
    known as materialized (
      select
        begun.i,
        begun.flank,
        begun.n,
        cell.level - lead(begun.begun) over way as before,
        cell.level - begun.rises as after,
        max(begun.n) filter (where not cell.crested) over (
          way rows between unbounded preceding and 1 preceding
        ) as last,
        min(begun.n) filter (where not cell.crested) over (
          way rows between 1 following and unbounded following
        ) as next
      from strip as begun
      inner join hilly on hilly.i = begun.i
      left join cell on cell.i = begun.i and cell.n = begun.n and coalesce(cell.flank, begun.flank) = begun.flank
      where begun.begun is not null
      window way as (partition by begun.i, begun.flank order by begun.n)
    ),
    total as materialized (
      select strip.i, strip.flank, strip.rises, line.dot
      from strip
      inner join hilly on hilly.i = strip.i
      inner join unnest(lines) as line on line.i = strip.i
      where strip.leave is null
    ),
    hidden as materialized (
      select strip.i, strip.n, strip.flank, strip.enter, strip.leave
      from strip
      inner join cell on cell.i = strip.i and cell.n = strip.n and coalesce(cell.flank, strip.flank) = strip.flank
      left join known on cell.crested and known.i = strip.i and known.flank = strip.flank and known.n = strip.n
      left join known as last on last.i = known.i and last.flank = known.flank and last.n = known.last
      left join known as next on next.i = known.i and next.flank = known.flank and next.n = known.next
      left join total on cell.crested and total.i = strip.i and total.flank = strip.flank
      where cell.level is not null
        and strip.leave > strip.enter
        and case
          when cell.crested and not cell.bank
            then bob._is_hidden(
              cell.high,
              cell.low,
              greatest(
                coalesce(last.before, own_level) + strip.rises,
                coalesce(next.after, total.dot - total.rises) + strip.rises
              )
              + case
                when cell.upper and (strip.towers > 0 or cell.stands) then 2
                when strip.woods + strip.towers > 0 or cell.stands then 1
                else 0
              end,
              cell.near,
              cell.far
            )
          else cell.ground_hides
            or cell.fills
            or (strip.woods + strip.towers > 0 and cell.woods_hide)
            or (cell.upper and strip.towers > 0 and cell.tower_hides)
        end
    )
    select coalesce(array_agg(distinct one.i), '{}')
    from hidden as one
    inner join hidden as other on other.i = one.i and other.n = one.n and other.flank = -1
    where one.flank = 1
      and one.enter < other.leave
      and other.enter < one.leave
  );
end
$$;

comment on function bob._crossed_views(positions.state, bob.sight_end, bob.view[]) is
'The threads that what is drawn inside hexes shuts: on some length it hides the ends on both flanks (14.0, 47.2).';

create or replace function bob._hidden_views(state positions.state, start bob.sight_end, lines bob.view[])
returns integer[]
language plpgsql stable
as $$
declare
  hedged integer[] := bob._hedged_views(start, lines);
  plain record;
begin
  select * into plain from bob._plain_views(state, start, lines);
  return hedged || plain.shut || bob._crossed_views(
    state,
    start,
    array(select line from unnest(lines) as line where line.i = any(plain.unsure) and not line.i = any(hedged))
  );
end
$$;

comment on function bob._hidden_views(positions.state, bob.sight_end, bob.view[]) is
'Which of many threads are shut, by their numbers; the verdicts are those of bob.los.';
