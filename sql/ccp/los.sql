-- needs: lattice/trace.sql, positions/place.sql
-- Line of sight in ccp (Combat Commander: Pacific): 7.2, 16, 18.3, O24.4, O24.5, T81.4 to T99, F102.2.
--
-- The string goes from centre to centre; what it touches between the two end hexes counts.
-- `ccp._met` lists all that it meets there, a row a thing: drawn areas, hexes taken as filled,
-- smoke, blazes, crest lines and ground above the ends. `ccp.los` judges and tells it.
--
-- Exactness. Where the line enters and leaves a hex is a rational over the denominator of its
-- trace. Blown up by that denominator, those points are integers and the artwork stays on its
-- grid, so that ST_Relate of a piece of the line with an area decides without rounding.
--
-- Ties. Touching is enough (16.1): the edge of artwork, the side of a filled hex that the line
-- runs along, the corner of one that it meets; ccp-34 reads that otherwise for all but the
-- sides of smoke and blaze hexes, which count in any case (16.2.2, 16.3.4), and for crest
-- lines, which count when met. A side or corner of an end hex belongs to that hex. Artwork in
-- several hexes has in each the level of that hex's centre dot (T89.3.1); along a side an area
-- counts for each of the two hexes that it lies in. A line off the map is blocked.
--
-- Hills. Ground in a hex is as high as the centre dot, and on the far side of a crest line that
-- a probe to the dot crosses an odd number of times it is on the other side of that level. A
-- hex without a crest line is all of its own level; where two such hexes differ, the crest line
-- is taken to run along their side and to belong to the higher one.

create or replace function ccp._sight_readings(policy jsonb)
returns table (beside_hill text, crest text, graze text)
language sql stable parallel safe rows 1
as $$
  select
    coalesce(policy ->> 'ccp-7', ruleset.presets ->> 'ccp-7'),
    coalesce(policy ->> 'ccp-33', ruleset.presets ->> 'ccp-33'),
    coalesce(policy ->> 'ccp-34', ruleset.presets ->> 'ccp-34')
  from public.ruleset
  where ruleset.code = 'ccp'
$$;

comment on function ccp._sight_readings(jsonb) is
'The readings in force for the contested points that sight turns on.';

create or replace function ccp._screens()
returns table (terrain text, hindrance integer)
language sql stable parallel safe rows 8
as $$
  select
    terrain.code,
    effect.halves / 2
  from public.terrain
  left join public.terrain_effect as effect
    on effect.ruleset = terrain.ruleset
      and effect.feature = 'terrain'
      and effect.code = terrain.code
      and effect.aspect = 'hindrance'
  where terrain.ruleset = 'ccp'
    and terrain.sight in ('blocks', 'hinders')
$$;

comment on function ccp._screens() is
'Terrain that bears on sight: a Hindrance with its number, an Obstacle without (T81.4).';

create or replace function ccp._turn(ax numeric, ay numeric, bx numeric, by numeric, px numeric, py numeric)
returns integer
language sql immutable parallel safe
return sign((bx - ax) * (py - ay) - (by - ay) * (px - ax))::integer;

comment on function ccp._turn(numeric, numeric, numeric, numeric, numeric, numeric) is
'On which side of the line from a to b the point p lies: 1, -1, or 0 on it; exact.';

create or replace function ccp._high(
  map_id bigint, q integer, r integer, dot integer, floor integer, x bigint, y bigint, den bigint
)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  edge integer;
  crossings integer;
begin
  select min(crest.level)
  into edge
  from public.crest
  where crest.map_id = _high.map_id
    and crest.level >= _high.floor
    and public.st_relate(crest.geom, lattice.hex(_high.q, _high.r), 'T********');
  -- a higher line within ground that is high enough already does not matter
  if edge is null or (_high.dot >= _high.floor and edge > _high.floor) then
    return _high.dot >= _high.floor;
  end if;
  if exists (
    select
    from public.crest
    where crest.map_id = _high.map_id
      and crest.level = edge
      and public.st_intersects(
        public.st_makepoint(_high.x, _high.y), public.st_scale(crest.geom, _high.den, _high.den)
      )
  ) then
    return false;
  end if;
  select count(*)
  into crossings
  from public.crest
  cross join lateral public.st_dumpsegments(crest.geom) as segment
  cross join lateral (
    select
      1024 * _high.x::numeric as px,
      1024 * _high.y::numeric as py,
      1024 * _high.den::numeric * (3 * _high.q) as cx,
      1024 * _high.den::numeric * (2 * _high.r + _high.q) as cy,
      _high.den::numeric * (1024 * public.st_x(public.st_startpoint(segment.geom)))::bigint as ux,
      _high.den::numeric * (1024 * public.st_y(public.st_startpoint(segment.geom)))::bigint as uy,
      _high.den::numeric * (1024 * public.st_x(public.st_endpoint(segment.geom)))::bigint as vx,
      _high.den::numeric * (1024 * public.st_y(public.st_endpoint(segment.geom)))::bigint as vy
  ) as at
  where crest.map_id = _high.map_id
    and crest.level = edge
    and segment.geom operator(public.&&) lattice.hex(_high.q, _high.r)
    -- a vertex on the probe counts as on its left, so that a chain through it is counted once
    and (ccp._turn(at.px, at.py, at.cx, at.cy, at.ux, at.uy) >= 0)
    <> (ccp._turn(at.px, at.py, at.cx, at.cy, at.vx, at.vy) >= 0)
    and ccp._turn(at.ux, at.uy, at.vx, at.vy, at.px, at.py)
    * ccp._turn(at.ux, at.uy, at.vx, at.vy, at.cx, at.cy) < 0;
  return (_high.dot >= _high.floor) <> (crossings % 2 = 1);
end
$$;

comment on function ccp._high(bigint, integer, integer, integer, integer, bigint, bigint, bigint) is
'Whether the ground of a hex at the point (x, y)/den is of a level or above it; on the crest line itself it is not.';

create or replace function ccp._falls(
  map_id bigint, q integer, r integer, floor integer, x bigint, y bigint, den bigint, qs integer[], rs integer[]
)
returns table (lower boolean, assumed boolean)
language plpgsql stable parallel safe rows 1
as $$
begin
  if exists (
    select
    from public.crest
    where crest.map_id = _falls.map_id
      and crest.level = _falls.floor
      and public.st_relate(crest.geom, lattice.hex(_falls.q, _falls.r), 'T********')
  ) then
    return query
    select
      not ccp._high(
        _falls.map_id, _falls.q, _falls.r, _falls.floor, _falls.floor, _falls.x, _falls.y, _falls.den
      ),
      false;
    return;
  end if;
  return query
  select
    coalesce(bool_and(not ccp._high(
      _falls.map_id, hex.q, hex.r, hex.level, _falls.floor, _falls.x, _falls.y, _falls.den
    )), false),
    not exists (
      select
      from public.crest
      where crest.map_id = _falls.map_id
        and crest.level = _falls.floor
    )
  from unnest(_falls.qs, _falls.rs) as beyond (q, r)
  inner join public.hex on hex.map_id = _falls.map_id and hex.q = beyond.q and hex.r = beyond.r;
end
$$;

comment on function ccp._falls(
  bigint, integer, integer, integer, bigint, bigint, bigint, integer[], integer[]
) is
'Whether a line that leaves a hex at (x, y)/den for the given hexes is below a level there (T89.3.2, F102.2.1).';

create or replace function ccp._met(
  position_id bigint, map_id bigint, aq integer, ar integer, tq integer, tr integer, floor integer
)
returns table (
  n integer,
  kind text,
  q integer,
  r integer,
  label text,
  side text,
  level integer,
  enter bigint,
  leave bigint,
  den bigint,
  what text,
  terrain text,
  area integer,
  value integer,
  inside boolean
)
language sql stable parallel safe rows 20
as $$
  with line as materialized (
    select * from lattice.line(_met.aq, _met.ar, _met.tq, _met.tr)
  ),
  ray as materialized (
    select
      public.st_makeline(lattice.center(_met.aq, _met.ar), lattice.center(_met.tq, _met.tr)) as geom,
      3 * _met.aq as x,
      2 * _met.ar + _met.aq as y,
      3 * (_met.tq - _met.aq) as dx,
      2 * (_met.tr - _met.ar) + _met.tq - _met.aq as dy,
      (select min(line.enter) from line) as first,
      (select max(line.leave) from line) as last
  ),
  cell as materialized (
    select
      line.n::integer as n,
      line.kind,
      side.q,
      side.r,
      hex.label,
      hex.terrain,
      hex.level::integer as level,
      hex.geom,
      line.enter,
      line.leave,
      line.den,
      line.enter > ray.first as begun,
      line.leave < ray.last as goes_on,
      piece.start,
      piece.finish,
      case when line.kind = 'touch' then piece.start else public.st_makeline(piece.start, piece.finish) end as piece
    from line
    cross join ray
    cross join lateral (values (1, line.q1, line.r1), (2, line.q2, line.r2)) as side (i, q, r)
    cross join lateral (
      select
        public.st_makepoint(ray.x * line.den + ray.dx * line.enter, ray.y * line.den + ray.dy * line.enter) as start,
        public.st_makepoint(ray.x * line.den + ray.dx * line.leave, ray.y * line.den + ray.dy * line.leave) as finish
    ) as piece
    left join public.hex
      on hex.map_id = _met.map_id
        and hex.q = side.q
        and hex.r = side.r
    where line.kind in ('hex', 'spine', 'touch')
      and (side.i = 1 or line.kind = 'spine')
  ),
  artwork as (
    select
      case when area.terrain = 'blaze' then 'blaze' else 'area' end as what,
      area.terrain,
      area.n,
      screen.hindrance as value,
      area.geom
    from ray
    inner join public.terrain_area as area
      on area.map_id = _met.map_id
        and public.st_intersects(area.geom, ray.geom)
    inner join ccp._screens() as screen on screen.terrain = area.terrain
    union all
    select
      'crest',
      null,
      crest.n,
      crest.level::integer,
      crest.geom
    from ray
    inner join public.crest
      on crest.map_id = _met.map_id
        and crest.level >= _met.floor
        and public.st_intersects(crest.geom, ray.geom)
  ),
  drawn as materialized (
    select
      cell.n,
      cell.q,
      cell.r,
      artwork.what,
      artwork.terrain,
      artwork.n as area,
      artwork.value,
      relation.matrix like '0%' or relation.matrix like '1%' as inside
    from artwork
    inner join cell on public.st_relate(artwork.geom, cell.geom, 'T********')
    cross join lateral (select public.st_scale(artwork.geom, cell.den, cell.den) as geom) as blown_up
    cross join lateral (select public.st_relate(cell.piece, blown_up.geom) as matrix) as relation
    where relation.matrix not like 'FF%'
      -- an end of the piece counts unless it lies on the side of an end hex
      or (
        relation.matrix not like '___FF%'
        and (
          (cell.begun and public.st_intersects(cell.start, blown_up.geom))
          or (cell.goes_on and public.st_intersects(cell.finish, blown_up.geom))
        )
      )
  ),
  filled as (
    select
      cell.n,
      cell.q,
      cell.r,
      cell.terrain,
      screen.hindrance as value,
      cell.kind = 'hex'
      or (cell.kind = 'spine' and count(*) over (partition by cell.n, screen.hindrance is null) = 2) as inside
    from cell
    inner join ccp._screens() as screen on screen.terrain = cell.terrain and screen.terrain <> 'blaze'
    where not exists (
      select
      from public.terrain_area as area
      where area.map_id = _met.map_id
        and area.terrain = cell.terrain
        and public.st_relate(area.geom, cell.geom, 'T********')
    )
  ),
  marked as (
    select
      cell.n,
      cell.q,
      cell.r,
      marker.kind,
      max(marker.value)::integer as value,
      bool_and(cell.kind <> 'touch') as inside
    from cell
    inner join public.marker
      on marker.position_id = _met.position_id
        and marker.q = cell.q
        and marker.r = cell.r
        and marker.kind in ('smoke', 'blaze')
    group by cell.n, cell.q, cell.r, marker.kind
    union all
    select
      cell.n,
      cell.q,
      cell.r,
      'blaze',
      null,
      cell.kind <> 'touch'
    from cell
    where cell.terrain = 'blaze'
      and not exists (
        select
        from public.marker
        where marker.position_id = _met.position_id
          and marker.q = cell.q
          and marker.r = cell.r
          and marker.kind = 'blaze'
      )
  ),
  hill as (
    select
      cell.n,
      cell.q,
      cell.r,
      cell.kind = 'hex' or (cell.kind = 'spine' and count(*) over (partition by cell.n) = 2) as inside
    from cell
    cross join ray
    where ccp._high(
      _met.map_id, cell.q, cell.r, cell.level, _met.floor,
      2 * ray.x * cell.den + ray.dx * (cell.enter + cell.leave),
      2 * ray.y * cell.den + ray.dy * (cell.enter + cell.leave),
      2 * cell.den
    )
    and not exists (
      select
      from drawn
      where drawn.n = cell.n
        and drawn.q = cell.q
        and drawn.r = cell.r
        and drawn.what = 'crest'
    )
  ),
  thing as (
    select n, q, r, what, terrain, area, value, inside from drawn
    union all
    select n, q, r, 'fill', terrain, null, value, inside from filled
    union all
    select n, q, r, kind, null, null, value, inside from marked
    union all
    select n, q, r, 'hill', null, null, null, inside from hill
  )
  select
    cell.n,
    cell.kind,
    cell.q,
    cell.r,
    cell.label,
    case when cell.kind = 'spine' then positions.cell_label(_met.map_id, line.q1, line.r1, line.q2, line.r2) else cell.label end,
    cell.level,
    cell.enter,
    cell.leave,
    cell.den,
    thing.what,
    thing.terrain,
    thing.area,
    thing.value,
    thing.inside
  from cell
  inner join line on line.n = cell.n
  left join thing on thing.n = cell.n and thing.q = cell.q and thing.r = cell.r
  order by cell.n, cell.q, cell.r, thing.what, thing.area
$$;

comment on function ccp._met(bigint, bigint, integer, integer, integer, integer, integer) is
'All that a line meets between its end hexes, a row a thing; ground and crest lines from a level up.';

create or replace function ccp._way(enter bigint, leave bigint, den bigint)
returns text
language sql immutable parallel safe
return case
  when enter = leave then format('at %s/%s of the way', enter / gcd(enter, den), den / gcd(enter, den))
  else format(
    'from %s/%s to %s/%s of the way',
    enter / gcd(enter, den), den / gcd(enter, den), leave / gcd(leave, den), den / gcd(leave, den)
  )
end;

comment on function ccp._way(bigint, bigint, bigint) is
'Where along the line something lies, as exact fractions of its length.';

create or replace function ccp._end(position_id bigint, name text)
returns table (
  map_id bigint,
  q integer,
  r integer,
  label text,
  terrain text,
  level integer,
  height integer,
  aloft boolean,
  in_cave boolean,
  smoke integer
)
language sql stable parallel safe rows 1
as $$
  select
    hex.map_id,
    hex.q,
    hex.r,
    hex.label,
    hex.terrain,
    hex.level::integer,
    -- O24.4, O24.5: an aircraft looks as if from a hill of level 5
    case when craft.aloft then 5 else hex.level::integer end,
    craft.aloft,
    -- F102.1: nobody but the Japanese is ever inside
    coalesce((place.attributes ->> 'in_cave')::boolean and place.side = 'japan', false),
    (
      select max(marker.value)::integer
      from public.marker
      where marker.position_id = _end.position_id
        and marker.q = place.q
        and marker.r = place.r
        and marker.kind = 'smoke'
    )
  from public.position
  cross join lateral positions.place(_end.position_id, _end.name) as place
  left join public.unit on unit.id = place.unit
  cross join lateral (
    select coalesce(unit.kind in ('aircraft', 'dive_bomber', 'fighter'), false) as aloft
  ) as craft
  inner join public.hex
    on hex.map_id = position.map_id
      and hex.q = place.q
      and hex.r = place.r
  where position.id = _end.position_id
$$;

comment on function ccp._end(bigint, text) is
'An end of a line: its hex, how high it looks from, whether it is inside a cave, the smoke in its hex.';

create or replace function ccp.los(
  position_id bigint,
  "from" text,
  "to" text,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (
  rule text, clause text, at text, effect text, note text, point text, range integer, hindrance integer
)
language plpgsql stable rows 8
as $$
declare
  state record;
  viewer record;
  target record;
  lower_end record;
  higher_end record;
  exits record;
  away integer;
  high integer;
  low integer;
  floor integer;
  stopped boolean := false;
  worst integer := 0;
  count integer := 0;
  told integer := 0;
  thing record;
  name text;
  touches boolean;
  hill_point text;
begin
  select
    coalesce(los.conditions, position.conditions) as conditions,
    reading.*
  into state
  from public.position
  cross join lateral ccp._sight_readings(coalesce(los.policy, position.policy)) as reading
  where position.id = los.position_id;
  select * into viewer from ccp._end(los.position_id, los."from");
  select * into target from ccp._end(los.position_id, los."to");
  if viewer.q is null or target.q is null then
    raise exception 'no line of sight from % to %: one of them is not on the map', los."from", los."to"
      using errcode = 'no_data_found';
  end if;
  away := lattice.distance(viewer.q, viewer.r, target.q, target.r);
  range := away;
  high := greatest(viewer.height, target.height);
  low := least(viewer.height, target.height);
  -- ground from here up stands in the way: above both ends, or as high as the higher (T89.3.2, T89.3.3)
  floor := case when high = low then high + 1 else high end;
  if viewer.height >= target.height then
    higher_end := viewer;
    lower_end := target;
  else
    higher_end := target;
    lower_end := viewer;
  end if;

  if away = 0 then
    rule := '16.1';
    at := los."to";
    effect := 'passes';
    note := 'both are in one hex, where no string is stretched';
    return next;
  end if;
  if viewer.aloft or target.aloft then
    rule := 'O24.4';
    at := case when viewer.aloft then los."from" else los."to" end;
    effect := 'passes';
    note := 'an aircraft is taken to be on a hill of level 5';
    return next;
  end if;

  -- T88: a gully hides from all that is neither adjacent nor higher
  for thing in
    select
      own.label,
      other.height > own.level as overlooked
    from (
      values
      (viewer.label, viewer.terrain, viewer.aloft, viewer.level, 1),
      (target.label, target.terrain, target.aloft, target.level, 2)
    ) as own (label, terrain, aloft, level, i)
    inner join (values (target.height, 1), (viewer.height, 2)) as other (height, i) on other.i = own.i
    where own.terrain = 'gully'
      and not own.aloft
      and away > 0
  loop
    rule := 'T88';
    at := thing.label;
    effect := case when away = 1 or thing.overlooked then 'passes' else 'blocks' end;
    note := format(
      case
        when away = 1 then 'the gully in %s is seen into from an adjacent hex'
        when thing.overlooked then 'the gully in %s is seen into from above'
        else 'the gully in %s is neither adjacent to nor below the other end'
      end,
      thing.label
    );
    stopped := stopped or effect = 'blocks';
    return next;
  end loop;

  -- where the line leaves each end, and into which hexes
  if away > 0 then
    select
      first.t as first,
      last.t as last,
      first.den as den,
      (3 * viewer.q)::bigint * first.den + 3 * (target.q - viewer.q) * first.t as x1,
      (2 * viewer.r + viewer.q)::bigint * first.den
      + (2 * (target.r - viewer.r) + target.q - viewer.q) * first.t as y1,
      (3 * viewer.q)::bigint * first.den + 3 * (target.q - viewer.q) * last.t as x2,
      (2 * viewer.r + viewer.q)::bigint * first.den
      + (2 * (target.r - viewer.r) + target.q - viewer.q) * last.t as y2
    into exits
    from (
      select min(line.enter) as t, min(line.den) as den
      from lattice.line(viewer.q, viewer.r, target.q, target.r) as line
    ) as first
    cross join (
      select max(line.leave) as t
      from lattice.line(viewer.q, viewer.r, target.q, target.r) as line
    ) as last;
  end if;

  -- T89.3.2 and F102.2: the slope at the edge of an end's own hex
  for thing in
    select
      own.task,
      own.label,
      slope.lower,
      slope.assumed
    from (
      values
      ('cave', viewer.in_cave and away > 0, viewer.q, viewer.r, viewer.level, viewer.label, true),
      ('cave', target.in_cave and away > 0, target.q, target.r, target.level, target.label, false),
      (
        'crest', high > low and away > 0 and not higher_end.aloft,
        higher_end.q, higher_end.r, higher_end.level, higher_end.label, viewer.height > target.height
      )
    ) as own (task, asked, q, r, level, label, at_start)
    cross join lateral (
      select
        array_agg(beyond.q) as qs,
        array_agg(beyond.r) as rs
      from (
        select side.q, side.r
        from lattice.line(viewer.q, viewer.r, target.q, target.r) as line
        cross join lateral (values (line.q1, line.r1), (line.q2, line.r2)) as side (q, r)
        where line.kind in ('hex', 'spine')
          and (
            (own.at_start and line.enter = exits.first)
            or (not own.at_start and line.leave = exits.last)
          )
        union
        select target.q, target.r
        where away = 1 and own.at_start
        union
        select viewer.q, viewer.r
        where away = 1 and not own.at_start
      ) as beyond
    ) as next
    cross join lateral ccp._falls(
      target.map_id, own.q, own.r, own.level,
      case when own.at_start then exits.x1 else exits.x2 end,
      case when own.at_start then exits.y1 else exits.y2 end,
      exits.den, next.qs, next.rs
    ) as slope
    where own.asked
  loop
    at := thing.label;
    point := null;
    if thing.assumed then
      rule := 'T89.3.1';
      effect := 'assumed';
      note := format('no crest line is drawn at %s: its hill is taken to end at its sides', thing.label);
      return next;
    end if;
    if thing.task = 'cave' then
      rule := 'F102.2.2';
      effect := case when thing.lower then 'passes' else 'blocks' end;
      note := case
        when thing.lower then 'the line leaves the hex of the cave downslope'
        else 'the line leaves the hex of the cave upslope, where nobody inside sees or is seen'
      end;
    elsif thing.lower then
      rule := 'T89.3.2';
      effect := 'passes';
      note := format('the line crosses the crest of %s before it leaves that hex', thing.label);
    else
      -- ccp-33: past a hill of the lower end's level
      if low > 0 and exists (
        select
        from ccp._met(
          los.position_id, target.map_id, viewer.q, viewer.r, target.q, target.r, floor
        ) as met
        where met.level = low
          and met.kind <> 'touch'
      ) then
        point := 'ccp-33';
      end if;
      rule := 'T89.3.2';
      effect := case when point is not null and state.crest = 'b' then 'passes' else 'blocks' end;
      note := format(
        case
          when effect = 'passes' then 'past a hill of its own level the lower end sees %s, no Crest hex of this line'
          else 'the line is still on the hill of %s when it leaves that hex'
        end,
        thing.label
      );
    end if;
    stopped := stopped or effect = 'blocks';
    return next;
  end loop;
  point := null;

  -- 18.3, 7.2: the dark
  if away > 0 and coalesce((state.conditions ->> 'night')::boolean, false) then
    at := los."to";
    if exists (
      select
      from public.marker
      where marker.position_id = los.position_id
        and marker.kind = 'starshell'
        and lattice.distance(marker.q, marker.r, target.q, target.r) <= 2
    ) then
      rule := '7.2';
      effect := 'passes';
      note := 'a starshell lights the target hex: night does not hinder';
    else
      rule := '18.3';
      effect := away::text;
      note := format('night hinders by the range, %s', away);
      worst := away;
      count := 1;
    end if;
    return next;
  end if;

  -- 16.3.4: smoke at the ends
  for thing in
    select
      own.label,
      own.smoke
    from (values (viewer.label, viewer.smoke), (target.label, target.smoke)) as own (label, smoke)
    where own.smoke is not null
      and away > 0
  loop
    rule := '16.3.4';
    at := thing.label;
    effect := thing.smoke::text;
    note := format('smoke of %s in %s hinders into and out of it', thing.smoke, thing.label);
    worst := greatest(worst, thing.smoke);
    count := count + 1;
    return next;
  end loop;

  -- what is met in between
  for thing in
    select
      met.*,
      bool_or(met.label is not null) over (partition by met.n) as on_map,
      case
        when target.height < viewer.height then met.enter
        when target.height > viewer.height then -met.leave
      end as from_higher,
      case
        when target.height < viewer.height then met.leave = exits.last
        when target.height > viewer.height then met.enter = exits.first
        else false
      end as beside_lower,
      bool_or(met.level = low and met.kind <> 'touch') over () as past_own_level,
      -- ccp-33: the hill of the higher end, without a break
      case
        when target.height > viewer.height
          then coalesce(bool_and(met.level = high) over (
            order by met.n groups between 1 following and unbounded following
          ), true)
        else coalesce(bool_and(met.level = high) over (
          order by met.n groups between unbounded preceding and 1 preceding
        ), true)
      end as on_its_hill
    from ccp._met(
      los.position_id, target.map_id, viewer.q, viewer.r, target.q, target.r, floor
    ) as met
    where away > 1
    order by met.n, met.q, met.r, met.what, met.area
  loop
    clause := null;
    point := null;
    if told <> thing.n then
      told := thing.n;
      if not thing.on_map and thing.kind <> 'touch' then
        rule := '16.1';
        at := null;
        effect := 'blocks';
        note := 'the line leaves the map';
        stopped := true;
        return next;
      elsif thing.kind in ('spine', 'touch') and thing.on_map then
        rule := '16.1';
        at := thing.side;
        effect := 'graze';
        note := case
          when thing.kind = 'spine' then 'the line runs along this side'
          else 'the line meets this hex in a corner point only'
        end;
        return next;
      end if;
    end if;
    continue when thing.what is null or thing.label is null;
    at := thing.label;
    touches := thing.inside or state.graze = 'a' or thing.what = 'crest';
    point := case when not thing.inside and thing.what <> 'crest' then 'ccp-34' end;
    name := format(
      '%s in %s, %s',
      case thing.what
        when 'area' then format('%s area %s', replace(thing.terrain, '_', ' '), thing.area)
        when 'fill' then replace(thing.terrain, '_', ' ')
        when 'crest' then format('crest line %s of level %s', thing.area, thing.value)
        when 'hill' then format('ground of level %s or more', floor)
        when 'smoke' then format('smoke of %s', thing.value)
        else thing.what
      end,
      thing.label,
      ccp._way(thing.enter, thing.leave, thing.den)
    );
    if not touches then
      rule := '16.1';
      effect := 'passes';
      note := format('only the edge is met: %s', name);
      return next;
    elsif thing.what = 'blaze' then
      rule := '16.2.2';
      effect := 'blocks';
      note := name;
      stopped := true;
      return next;
    elsif thing.what = 'smoke' then
      rule := '16.3.4';
      effect := thing.value::text;
      note := name;
      worst := greatest(worst, thing.value);
      count := count + 1;
      return next;
    elsif thing.what in ('hill', 'crest') then
      rule := case when high = low then 'T89.3.3' else 'T89.3.2' end;
      effect := 'blocks';
      hill_point := null;
      if high > low and low > 0 and thing.past_own_level and thing.on_its_hill
        and thing.level <= high and coalesce(thing.value, thing.level) = high then
        hill_point := 'ccp-33';
        effect := case when state.crest = 'b' then 'passes' else 'blocks' end;
      end if;
      point := coalesce(hill_point, point);
      note := format('a hill: %s', name);
      stopped := stopped or effect = 'blocks';
      return next;
    elsif thing.value is null then
      -- T89.4: an Obstacle at the level of the higher end, or of either hill end (ccp-7)
      if low > 0 and thing.level >= low and thing.level < high then
        point := 'ccp-7';
      end if;
      rule := case when high > 0 then 'T89.4' else '16.2.1' end;
      note := name;
      effect := 'blocks';
      if thing.level < case when state.beside_hill = 'b' and low > 0 then low else high end then
        rule := case when thing.beside_lower and thing.level >= low then 'T89.4.1' else 'T89.4' end;
        effect := case when rule = 'T89.4.1' then 'blocks' else 'passes' end;
        note := format(
          case when effect = 'blocks' then 'a blind hex behind %s' else 'seen over from above: %s' end, name
        );
      end if;
    else
      -- T89.5
      effect := case when thing.level >= high then thing.value::text else 'passes' end;
      rule := case when effect = 'passes' then 'T89.5' else '16.3' end;
      note := case when effect = 'passes' then format('seen over from above: %s', name) else name end;
      if effect <> 'passes' then
        worst := greatest(worst, thing.value);
        count := count + 1;
      end if;
    end if;
    if thing.what in ('area', 'fill') then
      stopped := stopped or effect = 'blocks';
      return next;
      if thing.what = 'fill' and effect <> 'passes' then
        rule := '16.1';
        effect := 'assumed';
        note := format('no %s is drawn in %s: it is taken as filled to its edges', replace(thing.terrain, '_', ' '), at);
        point := null;
        return next;
      end if;
    end if;
  end loop;

  clause := null;
  point := null;
  at := los."to";
  if count > 1 then
    rule := '16.3.3';
    effect := worst::text;
    note := 'of several hindrances only the largest counts';
    return next;
  end if;
  rule := '16.1';
  effect := case when stopped then 'blocked' else 'visible' end;
  hindrance := worst;
  note := case
    when stopped then 'the line of sight is blocked'
    when worst > 0 then format('the line of sight is hindered by %s', worst)
    else 'nothing stops or hinders the line of sight'
  end;
  return next;
end
$$;

comment on function ccp.los(bigint, text, text, jsonb, jsonb) is
'Whether one hex or unit sees another, and how hindered: a row for every rule that speaks, the verdict last.';
