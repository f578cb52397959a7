-- needs: css/fan.sql, lattice/trace.sql, positions/viewshed.sql
-- What many viewers see, found at once: css.fan turned around.
--
-- css.fan takes one viewer, and a set is of the hexes around it. Here a set is of viewers. The ground they look over lies
-- in columns, rim and all, so that every hex of it has a number; what lies at some displacement from each of
-- them is the set of what lies there, shifted by as much as the numbers differ. Lines that lie alike
-- (lattice.trace) are so judged for all viewers in a few operations, as many as the line has cells. What a hex, a spine
-- or a wall is to a line is told by the functions that css.los and css.fan ask.

drop type if exists css.field cascade;
create type css.field as (
  map_id bigint,
  readings jsonb,
  reach integer,
  lit_reach integer,
  q integer,
  r integer,
  columns integer,
  height integer,
  none bit varying
);

comment on type css.field is
'The ground that some viewers look over, 8 hexes beyond them on all sides.';
comment on column css.field.q is 'Axial column of its first hex; of its axial row, `r`';
comment on column css.field.height is 'Hexes in a column: how far the numbers of hexes side by side differ';
comment on column css.field.none is 'The set of no hex';

create or replace function css._number(field css.field, q integer, r integer)
returns integer
language sql immutable parallel safe
return (q - (field).q) * (field).height + r - (field).r;

comment on function css._number(css.field, integer, integer) is
'The place of a hex in the sets of a field.';

create or replace function css._field(position_id bigint, radius integer, qs integer[], rs integer[])
returns css.field
language plpgsql stable
as $$
declare
  field css.field;
begin
  select
    state.map_id,
    state.readings,
    least(_field.radius, css._visibility(state.conditions, false)),
    least(_field.radius, css._visibility(state.conditions, true)),
    viewers.west - 8,
    viewers.south - 8,
    viewers.east - viewers.west + 17,
    viewers.north - viewers.south + 17
  into field
  from positions.state(_field.position_id) as state
  cross join (
    select min(viewer.q) as west, max(viewer.q) as east, min(viewer.r) as south, max(viewer.r) as north
    from unnest(_field.qs, _field.rs) as viewer (q, r)
  ) as viewers;
  field.none := repeat('0', field.columns * field.height)::bit varying;
  return field;
end
$$;

comment on function css._field(bigint, integer, integer[], integer[]) is
'The field of viewers at these hexes, and what holds there now.';

drop type if exists css.ground_set cascade;
create type css.ground_set as (
  level integer,
  sight integer,
  barrage boolean,
  hexes bit varying
);

comment on type css.ground_set is
'Hexes of a field that are alike to a line of sight: their level, what their ground does to it now, a barrage (8.7.2).';

create or replace function css._ground_sets(field css.field, mark css.marked_hexes)
returns setof css.ground_set
language plpgsql stable rows 20
as $$
begin
  return query
  select
    kind.level,
    css._sight_now(kind.sight, kind.burns, kind.burnt, field.readings),
    kind.barrage,
    kind.hexes
  from (
    select
      hex.level::integer as level,
      hex.sight,
      coalesce(css._spot(hex.q, hex.r) = any(mark.burning), false) as burns,
      coalesce(css._spot(hex.q, hex.r) = any(mark.burnt), false) as burnt,
      coalesce(css._spot(hex.q, hex.r) = any(mark.barraged), false) as barrage,
      bit_or(set_bit(field.none, css._number(field, hex.q, hex.r), 1))::bit varying as hexes
    from public.css_ground as hex
    where hex.map_id = field.map_id
      and hex.q between field.q and field.q + field.columns - 1
      and hex.r between field.r and field.r + field.height - 1
    group by 1, 2, 3, 4, 5
    offset 0
  ) as kind;
end
$$;

comment on function css._ground_sets(css.field, css.marked_hexes) is
'The ground of a field and what is marked there, hexes alike taken together.';

create or replace function css._spot_set(field css.field, spots bigint[])
returns bit varying
language plpgsql immutable
as $$
begin
  return coalesce(
    (
      select bit_or(set_bit(field.none, css._number(field, hex.q, hex.r), 1))
      from unnest(spots) as spot (n)
      cross join lateral css._hex_of(spot.n) as hex
      where hex.q between field.q and field.q + field.columns - 1
        and hex.r between field.r and field.r + field.height - 1
    ),
    field.none
  );
end
$$;

comment on function css._spot_set(css.field, bigint[]) is
'Of a list of hexes, each as css._spot, the set of those in a field.';

create or replace function css._wall_sets(field css.field)
returns table (direction integer, slopes bit varying, every_wall bit varying)
language plpgsql stable rows 3
as $$
begin
  return query
  select
    side.direction,
    coalesce(bit_or(side.hex) filter (where side.kind <> 'cliff'), field.none)::bit varying,
    bit_or(side.hex)::bit varying
  from (
    select
      hexside.kind,
      lattice.direction(beside.q2 - beside.q1, beside.r2 - beside.r1) as direction,
      set_bit(field.none, css._number(field, beside.q1, beside.r1), 1) as hex
    from public.hexside
    cross join lateral lattice.side_hexes(hexside.x, hexside.y) as beside
    where hexside.map_id = field.map_id
      and css._wall(hexside.kind) <> 0
      and beside.q1 between field.q and field.q + field.columns - 1
      and beside.r1 between field.r and field.r + field.height - 1
      -- what an index can tell
      and hexside.x between 2 * field.q - 1 and 2 * (field.q + field.columns) + 1
      and hexside.y between 2 * field.r - 1 and 2 * (field.r + field.height) + 1
    offset 0
  ) as side
  group by side.direction;
end
$$;

comment on function css._wall_sets(css.field) is
'The walls of a field by the direction in which their second hex lies from the first, each at its first hex.';

create or replace function css._slope_sets(field css.field)
returns table (direction integer, hexes bit varying)
language plpgsql stable rows 6
as $$
declare
  xs integer[];
  ys integer[];
begin
  select array_agg(hexside.x), array_agg(hexside.y)
  into xs, ys
  from public.hexside
  where hexside.map_id = field.map_id
    and hexside.kind = 'steep_slope'
    and hexside.x between 2 * field.q - 1 and 2 * (field.q + field.columns) + 1
    and hexside.y between 2 * field.r - 1 and 2 * (field.r + field.height) + 1;
  return query
  select
    -- the middle of a side lies half a step off
    lattice.direction(upper.x - 2 * upper.q, upper.y - 2 * upper.r),
    bit_or(set_bit(field.none, css._number(field, upper.q, upper.r), 1))::bit varying
  from css._upper_hexes(field.map_id, xs, ys) as upper
  where upper.q between field.q and field.q + field.columns - 1
    and upper.r between field.r and field.r + field.height - 1
  group by 1;
end
$$;

comment on function css._slope_sets(css.field) is
'The hexes of a field from which a steep slope goes down, by direction (6.2.2).';

drop type if exists css.way cascade;
create type css.way as (
  dq integer,
  dr integer,
  away integer,
  shift integer,
  met integer array,
  near integer array,
  far integer array,
  spines integer array,
  spine_directions integer array,
  free bit varying array
);

comment on type css.way is
'One way for a line to lie: what it meets, each by its lattice.hex_bit, and the viewers of a field that it takes somewhere.';
comment on column css.way.shift is 'The number of its target less that of its viewer';
comment on column css.way.met is 'Hexes that it passes, and with css-62 b those that it touches; `near` those beside the viewer, `far` beside the target';
comment on column css.way.spines is 'The first hex of each side that it runs along; `spine_directions` where the second lies';
comment on column css.way.free is 'Viewers whose line stays on the map and in reach, and meets no wall that hides, by who looks down a steep slope of its own hex (6.2.2): nobody, the viewer, the target, both';

create or replace function css._line_walls(field css.field)
returns table (dq integer, dr integer, slopes bit varying, every_wall bit varying)
language plpgsql stable rows 200
as $$
begin
  return query
  with wall as materialized (
    select * from css._wall_sets(field)
  )
  select
    ray.dq::integer,
    ray.dr::integer,
    bit_or(case when cell.along then side.every_wall else side.slopes end << side.shift)::bit varying,
    bit_or(side.every_wall << side.shift)::bit varying
  from lattice.ray
  cross join lateral (
    select
      trace.q1,
      trace.r1,
      trace.direction,
      trace.kind = 'spine' as along
    from lattice.trace
    where trace.dq = ray.dq
      and trace.dr = ray.dr
      and (
        trace.kind = 'spine'
        or (
          not (trace.of_start or trace.of_target)
          -- css-62: a side that is met at its end
          and (trace.crossed or (trace.kind = 'end' and field.readings ->> 'css-62' = 'b'))
        )
      )
  ) as cell
  inner join lateral (
    select wall.slopes, wall.every_wall, cell.q1 * field.height + cell.r1 as shift
    from wall
    where wall.direction = cell.direction
  ) as side on true
  group by ray.dq, ray.dr;
end
$$;

comment on function css._line_walls(css.field) is
'By how a line lies, the viewers of a field from whom it would meet a wall that hides: any, or any but a cliff that it crosses.';

create or replace function css._line_slopes(field css.field)
returns table (dq integer, dr integer, here bit varying, there bit varying)
language plpgsql stable rows 200
as $$
begin
  return query
  with slope as materialized (
    select * from css._slope_sets(field)
  )
  select
    ray.dq::integer,
    ray.dr::integer,
    bit_or(slope.hexes) filter (where cell.of_start)::bit varying,
    bit_or(slope.hexes << (ray.dq * field.height + ray.dr)) filter (where cell.of_target)::bit varying
  from lattice.ray
  cross join lateral (
    select
      ending.of_start,
      not ending.of_start as of_target,
      lattice.direction(
        trace.q1 + trace.q2 - 2 * ending.q, trace.r1 + trace.r2 - 2 * ending.r
      ) as direction
    from lattice.trace
    cross join lateral (values (true, 0, 0), (false, ray.dq, ray.dr)) as ending (of_start, q, r)
    where trace.dq = ray.dq
      and trace.dr = ray.dr
      and trace.crossed
      and case when ending.of_start then trace.of_start else trace.of_target end
  ) as cell
  inner join slope on slope.direction = cell.direction
  group by ray.dq, ray.dr;
end
$$;

comment on function css._line_slopes(css.field) is
'By how a line lies, the viewers of a field that look down over a steep slope of their own hex, and those whose target does (6.2.2).';

create or replace function css._ways(field css.field, grounds css.ground_set[], mark css.marked_hexes)
returns setof css.way
language plpgsql stable rows 200
as $$
declare
  corners boolean := field.readings ->> 'css-62' = 'b';
  on_map bit varying := (select bit_or(ground.hexes) from unnest(grounds) as ground);
  off_map bit varying := ~on_map;
  lit bit varying := css._spot_set(field, mark.lit);
  -- css-11: who sees adjacent hexes alone
  shut_in bit varying := css._spot_set(
    field,
    array(
      select spot.n
      from unnest(mark.barraged) as spot (n)
      where css._shut_in(field.readings, spot.n = any(mark.bombarded))
    )
  );
begin
  return query
  select
    ray.dq::integer,
    ray.dr::integer,
    ray.away::integer,
    line.shift,
    line.met,
    line.near,
    line.far,
    line.spines,
    line.spine_directions,
    array[
      nullif(
        sight.free & walls.none & ~coalesce(slopes.here | slopes.there, slopes.here, slopes.there, field.none), field.none
      ),
      nullif(sight.free & walls.above & slopes.here & ~coalesce(slopes.there, field.none), field.none),
      nullif(sight.free & walls.above & slopes.there & ~coalesce(slopes.here, field.none), field.none),
      nullif(sight.free & walls.above & slopes.here & slopes.there, field.none)
    ]::bit varying[]
  from lattice.ray
  cross join lateral (
    select
      ray.dq * field.height + ray.dr as shift,
      array_agg(cell.place) filter (where cell.kind <> 'spine') as met,
      array_agg(cell.place) filter (where cell.kind <> 'spine' and cell.near) as near,
      array_agg(cell.place) filter (where cell.kind <> 'spine' and cell.far) as far,
      array_agg(cell.place order by cell.n) filter (where cell.kind = 'spine') as spines,
      array_agg(cell.direction order by cell.n) filter (where cell.kind = 'spine') as spine_directions,
      bit_or(off_map << cell.shift) filter (where cell.kind = 'hex') as off
    from (
      select
        trace.n,
        trace.kind,
        trace.direction::integer,
        lattice.hex_bit(trace.q1, trace.r1) as place,
        trace.q1 * field.height + trace.r1 as shift,
        lattice.distance(0, 0, trace.q1, trace.r1) = 1 as near,
        lattice.distance(trace.q1, trace.r1, trace.dq, trace.dr) = 1 as far
      from lattice.trace
      where trace.dq = ray.dq
        and trace.dr = ray.dr
        and (trace.kind in ('hex', 'spine') or (corners and trace.kind = 'touch'))
      offset 0
    ) as cell
  ) as line
  cross join lateral (
    select
      on_map & (on_map << line.shift) & ~coalesce(line.off, field.none)
      & case when ray.away > field.reach then lit << line.shift else on_map end
      & case when ray.away > 1 then ~shut_in else on_map end as free
  ) as sight
  left join css._line_walls(field) as wall on wall.dq = ray.dq and wall.dr = ray.dr
  cross join lateral (
    select
      ~coalesce(wall.every_wall, field.none) as none,
      -- a cliff may be seen over from above (css-44)
      ~coalesce(case when field.readings ->> 'css-44' = 'b' then wall.every_wall else wall.slopes end, field.none) as above
  ) as walls
  left join css._line_slopes(field) as slopes on slopes.dq = ray.dq and slopes.dr = ray.dr
  where ray.away <= greatest(field.reach, field.lit_reach)
  -- as css.fan reads them, which sorts nothing: what is kept is the same, whoever keeps it
  order by ray.ctid;
end
$$;

comment on function css._ways(css.field, css.ground_set[], css.marked_hexes) is
'Every way for a line to lie, in the order of css.fan, with the viewers of a field that it does not fail for but for the ground.';

create or replace function css._met(obstacle integer, beside boolean)
returns integer
language sql immutable parallel safe
return case when css._stops_there(obstacle, beside) then css._bit('barrage') else 0 end
+ (obstacle & (css._bit('brush') + css._bit('unprinted')));

comment on function css._met(integer, boolean) is
'What a hex beside the lower end, or elsewhere, is to a line in the end, as css._veiled has it.';

drop type if exists css.shade cascade;
create type css.shade as (
  high integer,
  low integer,
  above integer,
  stops bit varying,
  stops_beside bit varying,
  thins bit varying,
  spine_stops bit varying array,
  spine_stops_beside bit varying array,
  spine_thins bit varying array,
  spine_thins_beside bit varying array
);

comment on type css.shade is
'What the ground of a field does to lines between ends of two levels, as sets of hexes; of spines, at their first hex, by where the second lies: in direction 2, 3 or 4.';
comment on column css.shade.above is 'Level of an end that looks down a steep slope of its own hex (6.2.2); null is none';
comment on column css.shade.stops is 'Hexes that are not seen through; `stops_beside` where they lie beside the lower end';
comment on column css.shade.thins is 'Hexes two of which are not seen through (7.1.1 c)';

create or replace function css._met_sets(field css.field, grounds css.ground_set[])
returns table (high integer, low integer, above integer, apart integer, beside integer, hexes bit varying)
language plpgsql stable rows 100
as $$
#variable_conflict use_column
declare
  literal constant boolean := field.readings ->> 'css-43' = 'a';
  off constant bit varying := (select ~bit_or(ground.hexes) from unnest(grounds) as ground);
begin
  return query
  with level as materialized (
    select distinct ground.level as n from unnest(grounds) as ground
  ),
  ends as materialized (
    select higher.n as high, lower.n as low, looks.above
    from level as higher
    inner join level as lower on lower.n <= higher.n
    cross join lateral (select distinct above.n from (values (null), (higher.n), (lower.n)) as above (n)) as looks (above)
  )
  select met.high, met.low, met.above, met.apart, met.beside, bit_or(met.hexes)::bit varying
  from (
    select
      now.high,
      now.low,
      now.above,
      css._met(now.obstacle, false) as apart,
      css._met(now.obstacle, true) as beside,
      now.hexes
    from (
      select
        spot.*,
        css._obstacle(spot.level, spot.high, spot.low, true, spot.sight, spot.cover, spot.barrage, literal) as obstacle
      from (
        select ends.*, ground.*, css._cover(ground.level, ground.sight, ends.above, field.readings) as cover
        from ends
        cross join unnest(grounds) as ground
        offset 0
      ) as spot
      offset 0
    ) as now
    offset 0
  ) as met
  group by met.high, met.low, met.above, met.apart, met.beside
  union all
  select ends.high, ends.low, ends.above, null, null, off
  from ends;
end
$$;

comment on function css._met_sets(css.field, css.ground_set[]) is
'What the hexes of a field are to lines between ends of every two levels, in the end, apart from the lower one and beside it: as css._met, null off the map.';

create or replace function css._shades(field css.field, grounds css.ground_set[])
returns setof css.shade
language plpgsql stable rows 20
as $$
#variable_conflict use_column
begin
  return query
  with met as materialized (
    select * from css._met_sets(field, grounds)
  ),
  -- 7.1.1 b: the two hexes beside a spine
  pair as materialized (
    select
      one.high,
      one.low,
      one.above,
      css._weight(one.apart, two.apart) as apart,
      css._weight(one.beside, two.beside) as beside,
      one.hexes as one,
      two.hexes as two
    from met as one
    inner join met as two
      on two.high = one.high and two.low = one.low and two.above is not distinct from one.above
  ),
  spine as (
    select
      side.high,
      side.low,
      side.above,
      side.direction,
      bit_or(side.hexes) filter (where side.apart = 2)::bit varying as stops,
      bit_or(side.hexes) filter (where side.beside = 2)::bit varying as stops_beside,
      bit_or(side.hexes) filter (where side.apart = 1)::bit varying as thins,
      bit_or(side.hexes) filter (where side.beside = 1)::bit varying as thins_beside
    from (
      select
        pair.*,
        direction.n as direction,
        pair.one & (pair.two << (lattice.step_q(direction.n) * field.height + lattice.step_r(direction.n))) as hexes
      from pair
      cross join generate_series(2, 4) as direction (n)
      where pair.apart + pair.beside > 0
      offset 0
    ) as side
    group by side.high, side.low, side.above, side.direction
  ),
  spines as materialized (
    select
      spine.high,
      spine.low,
      spine.above,
      array_agg(spine.stops order by spine.direction) as stops,
      array_agg(spine.stops_beside order by spine.direction) as stops_beside,
      array_agg(spine.thins order by spine.direction) as thins,
      array_agg(spine.thins_beside order by spine.direction) as thins_beside
    from spine
    group by spine.high, spine.low, spine.above
  )
  select
    hexes.*,
    spines.stops,
    spines.stops_beside,
    spines.thins,
    spines.thins_beside
  from (
    select
      met.high,
      met.low,
      met.above,
      bit_or(met.hexes) filter (where css._weight(met.apart, null) = 2)::bit varying,
      bit_or(met.hexes) filter (where css._weight(met.beside, null) = 2)::bit varying,
      bit_or(met.hexes) filter (where css._has(met.apart, 'brush'))::bit varying
    from met
    where met.apart is not null
    group by met.high, met.low, met.above
  ) as hexes
  left join spines
    on spines.high = hexes.high and spines.low = hexes.low and spines.above is not distinct from hexes.above;
end
$$;

comment on function css._shades(css.field, css.ground_set[]) is
'What the ground of a field does to lines between ends of every two levels; null for a set of no hex.';

create or replace function css._shifts(field css.field)
returns integer[]
language sql immutable parallel safe
return array(
  -- beyond 7 hexes no line has anything between
  select case when lattice.distance(0, 0, step.dq, step.dr) < 8 then step.dq * (field).height + step.dr end
  from (select q.n as dq, r.n as dr from generate_series(-8, 8) as q (n) cross join generate_series(-8, 8) as r (n)) as step
  order by lattice.hex_bit(step.dq, step.dr)
);

comment on function css._shifts(css.field) is
'By lattice.hex_bit, how far the number of a hex at that displacement differs.';

create or replace function css._shifted(hexes bit varying, shifts integer[])
returns bit varying[]
language plpgsql immutable
as $$
begin
  return case
    when hexes is not null
      then array(select hexes << shift.n from unnest(shifts) with ordinality as shift (n, i) order by shift.i)
  end;
end
$$;

comment on function css._shifted(bit varying, integer[]) is
'A set of hexes of a field as it lies for each displacement.';

create or replace function css._line_kinds(
  grounds css.ground_set[], shades css.shade[], looking bit varying, ways css.way[]
)
returns table (
  own integer, other integer, looks integer, viewers bit varying, targets bit varying, shade css.shade
)
language plpgsql stable rows 30
as $$
#variable_conflict use_column
begin
  return query
  with kind as materialized (
    select ground.level, bit_or(ground.hexes) as hexes
    from unnest(_line_kinds.grounds) as ground
    group by ground.level
  )
  select
    start.level,
    target.level,
    looks.n,
    (start.hexes & _line_kinds.looking)::bit varying,
    target.hexes::bit varying,
    shade
  from kind as start
  cross join kind as target
  cross join (values (1, false, false), (2, true, false), (3, false, true), (4, true, true)) as looks (n, here, there)
  inner join unnest(_line_kinds.shades) as shade
    on shade.high = greatest(start.level, target.level)
      and shade.low = least(start.level, target.level)
      and shade.above is not distinct from
      greatest(case when looks.here then start.level end, case when looks.there then target.level end)
  where bit_count(start.hexes & _line_kinds.looking) > 0
    and exists (select from unnest(_line_kinds.ways) as way where way.free[looks.n] is not null)
  order by shade.high, shade.low, shade.above, start.level, looks.n;
end
$$;

comment on function css._line_kinds(css.ground_set[], css.shade[], bit varying, css.way[]) is
'Lines to which the same ground does the same: by the levels of their ends, and by who looks down a steep slope, as css.way.free has it; those of one shade in a row.';

create or replace function css._past_spines(
  shade css.shade, way css.way, shifts integer[], once bit varying, rises integer
)
returns bit varying
language plpgsql immutable
as $$
declare
  last constant integer := cardinality(way.spines);
  -- no bit of it is set
  none constant bit varying := once & ~once;
  open bit varying := ~none;
  dimmed bit varying := once;
  beside boolean;
  direction integer;
  stops bit varying;
  thins bit varying;
begin
  for n in 1 .. last loop
    -- 7.1.2 b: the first spine is beside the viewer, the last beside the target
    beside := (rises > 0 and n = 1) or (rises < 0 and n = last);
    direction := way.spine_directions[n] - 1;
    stops := case when beside then shade.spine_stops_beside[direction] else shade.spine_stops[direction] end;
    thins := case when beside then shade.spine_thins_beside[direction] else shade.spine_thins[direction] end;
    if stops is not null then
      open := open & ~(stops << shifts[way.spines[n] + 1]);
    end if;
    if thins is not null then
      thins := thins << shifts[way.spines[n] + 1];
      -- 7.1.1 c
      open := open & ~(dimmed & thins);
      dimmed := dimmed | thins;
    end if;
  end loop;
  return open;
end
$$;

comment on function css._past_spines(css.shade, css.way, integer[], bit varying, integer) is
'The viewers whose line along a way is not stopped by a spine (7.1.1 b), where some met one thing that thins it already; rises tells whether the target is higher.';

create or replace function css._seen_alike(field css.field, grounds css.ground_set[], looking bit varying, ways css.way[])
returns bit varying[]
language plpgsql stable
as $$
declare
  shifts constant integer[] := css._shifts(field);
  kind record;
  shade css.shade;
  -- what the shade leaves, and what it thins, as it lies for each place that a line may meet
  clear bit varying[];
  thins bit varying[];
  open bit varying;
  once bit varying;
  place integer;
  seen bit varying[] := array_fill(field.none, array[cardinality(ways)]);
begin
  for kind in
    select *
    from css._line_kinds(grounds, array(select one from css._shades(field, grounds) as one), looking, ways)
  loop
    if shade is distinct from kind.shade then
      shade := kind.shade;
      clear := css._shifted(~shade.stops, shifts);
      thins := css._shifted(shade.thins, shifts);
    end if;
    for n in 1 .. cardinality(ways) loop
      continue when (ways[n]).free[kind.looks] is null;
      open := kind.viewers & (ways[n]).free[kind.looks];
      continue when open = field.none;
      open := open & (kind.targets << (ways[n]).shift);
      continue when open = field.none;
      once := field.none;
      if (ways[n]).met is not null then
        if clear is not null then
          foreach place in array (ways[n]).met loop
            open := open & clear[place + 1];
            exit when open = field.none;
          end loop;
        end if;
        if thins is not null then
          -- 7.1.1 c: not seen through the second
          foreach place in array (ways[n]).met loop
            open := open & ~(once & thins[place + 1]);
            once := once | thins[place + 1];
          end loop;
        end if;
        -- 7.1.2 b: beside the lower end
        if kind.own <> kind.other and shade.stops_beside is not null then
          foreach place in array coalesce(case when kind.own < kind.other then (ways[n]).near else (ways[n]).far end, '{}') loop
            open := open & ~(shade.stops_beside << shifts[place + 1]);
          end loop;
        end if;
      end if;
      if (ways[n]).spines is not null then
        open := open & css._past_spines(shade, ways[n], shifts, once, sign(kind.other - kind.own)::integer);
      end if;
      seen[n] := seen[n] | open;
    end loop;
  end loop;
  return seen;
end
$$;

comment on function css._seen_alike(css.field, css.ground_set[], bit varying, css.way[]) is
'For each way that a line may lie, those of the viewers that see along it.';

create or replace function css._field_labels(field css.field)
returns text[]
language plpgsql stable
as $$
begin
  return array(
    select hex.label
    from generate_series(field.q, field.q + field.columns - 1) as across (q)
    cross join generate_series(field.r, field.r + field.height - 1) as down (r)
    left join (
      -- of a large map nothing beyond the field is read
      select ground.q, ground.r, ground.label
      from public.css_ground as ground
      where ground.map_id = field.map_id
        and ground.q between field.q and field.q + field.columns - 1
        and ground.r between field.r and field.r + field.height - 1
      offset 0
    ) as hex on hex.q = across.q and hex.r = down.r
    order by across.q, down.r
  );
end
$$;

comment on function css._field_labels(css.field) is
'The label of every hex of a field, by number.';

create or replace function css._field_fans(
  position_id bigint, radius integer, viewers text[], viewer_qs integer[], viewer_rs integer[]
)
returns table (viewer text, q integer, r integer, qs integer[], rs integer[], labels text[], ranges integer[])
language plpgsql stable rows 1000
as $$
#variable_conflict use_column
declare
  field css.field := css._field(_field_fans.position_id, _field_fans.radius, viewer_qs, viewer_rs);
  mark css.marked_hexes := (select marked from css._marked(_field_fans.position_id) as marked);
  grounds css.ground_set[] := array(select ground from css._ground_sets(field, mark) as ground);
  ways css.way[] := array(select way from css._ways(field, grounds, mark) as way);
  seen bit varying[] := css._seen_alike(
    field,
    grounds,
    (
      select bit_or(set_bit(field.none, css._number(field, place.q, place.r), 1))
      from unnest(viewer_qs, viewer_rs) as place (q, r)
    ),
    ways
  );
  names text[] := css._field_labels(field);
begin
  return query
  with line as materialized (
    select
      way.dq,
      way.dr,
      way.away,
      way.shift,
      seen[way.n] as seen
    from unnest(ways) with ordinality as way (
      dq, dr, away, shift, met, near, far, spines, spine_directions, free, n
    )
    order by way.n
  )
  select
    who.name,
    who.q,
    who.r,
    fan.*
  from (
    select place.name, place.q, place.r, css._number(field, place.q, place.r) as n
    from unnest(viewers, viewer_qs, viewer_rs) as place (name, q, r)
    offset 0
  ) as who
  cross join lateral (
    select
      coalesce(array_agg(who.q + line.dq), '{}'),
      coalesce(array_agg(who.r + line.dr), '{}'),
      coalesce(array_agg(names[who.n + line.shift + 1]), '{}'),
      coalesce(array_agg(line.away), '{}')
    from line
    where get_bit(line.seen, who.n) = 1
  ) as fan;
end
$$;

comment on function css._field_fans(bigint, integer, text[], integer[], integer[]) is
'What viewers near one another see, each by its name and hex.';

create or replace function css._fans(position_id bigint, viewers text[], radius integer)
returns table (viewer text, q integer, r integer, qs integer[], rs integer[], labels text[], ranges integer[])
language plpgsql stable rows 1000
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  near record;
begin
  for near in
    select
      array_agg(name.name) as names,
      array_agg(place.q) as qs,
      array_agg(place.r) as rs,
      -- 6.3: out of a cave it is seen otherwise than from its hex
      coalesce((place.attributes ->> 'in_cave')::boolean, false) as in_cave
    from unnest(_fans.viewers) as name (name)
    cross join lateral positions.place(_fans.position_id, name.name) as place
    where place.q is not null
    -- what viewers far apart look over would be mostly ground that nobody looks at
    group by place.q >> 6, place.r >> 6, in_cave
  loop
    if near.in_cave then
      return query
      select fan.*
      from positions._each_fan(_fans.position_id, near.names, _fans.radius) as fan;
    else
      return query
      select fan.*
      from css._field_fans(_fans.position_id, _fans.radius, near.names, near.qs, near.rs) as fan;
    end if;
  end loop;
end
$$;

comment on function css._fans(bigint, text[], integer) is
'What each of many hexes and units sees: the rows of css.fan as lists, in their order.';
